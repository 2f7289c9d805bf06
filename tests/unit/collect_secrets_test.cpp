#include <gtest/gtest.h>

#include "collect/record/secrets.h"

namespace gf {
namespace {

TEST(Secrets, AreMaskedInCommands) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"python", "train.py", "--password", "hunter2", "--lr", "0.1"},
       "python train.py --password *** --lr 0.1"},
      {{"train", "--hf-token=abc", "--api_key", "x"}, "train --hf-token=*** --api_key ***"},
      {{"env", "WANDB_API_KEY=0123", "train"}, "env WANDB_API_KEY=*** train"},
      {{"login", "hf_abcdefghijklmnopqrstuvwx"}, "login ***"},
      {{"run", "key=sk-abcdefghijklmnop123"}, "run key=***"},
      {{"run", "0123456789abcdef0123456789abcdef01234567"}, "run ***"},
      {{"fetch", "https://me:pass@host/x"}, "fetch https://me:***@host/x"},
  };
  for (const auto& [words, expected] : cases) EXPECT_EQ(masked_command(words), expected);
}

TEST(Secrets, OrdinaryWordsStay) {
  const std::vector<std::string> words{
      "python",
      "train.py",
      "--max-tokens",
      "512",
      "--tokenizer",
      "gpt2",
      "--token",
      "--verbose",
      "/data/very/long/path/of/a/dataset/with/0123456789/shards.tar",
      "https://host:8080/a@b",
      "sk-1",
      "a=b"};
  std::string joined;
  for (const auto& word : words) joined += (joined.empty() ? "" : " ") + word;
  EXPECT_EQ(masked_command(words), joined);
}

}  // namespace
}  // namespace gf
