#include <gtest/gtest.h>

#include "core/secrets.h"

namespace gf {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Every secret of the corpus holds this, beside what makes it look like one.
#define MARK "hUnt3r"
#define LONG MARK "Zx81Qp0aLk39TmWv7RyBnC2dEf"

const Words kWithSecrets[] = {
    {"python", "train.py", "--password", MARK},
    {"python", "train.py", "--password=" MARK},
    {"python", "train.py", "--db-password", MARK " with spaces"},
    {"python", "train.py", "--pwd", MARK},
    {"python", "train.py", "--passwd", MARK, "--lr", "1"},
    {"python", "train.py", "--pass", MARK},
    {"python", "train.py", "--token", MARK},
    {"python", "train.py", "--hf_token", MARK},
    {"python", "train.py", "--hfToken=" MARK},
    {"python", "train.py", "--api-key", MARK},
    {"python", "train.py", "--apiKey", MARK},
    {"python", "train.py", "api_key=" MARK},
    {"python", "train.py", "trainer.logger.api_key=" MARK},
    {"python", "train.py", "+secrets.token=" MARK},
    {"python", "train.py", "--secret", MARK},
    {"python", "train.py", "--client-secret", MARK},
    {"python", "train.py", "--credentials", MARK},
    {"python", "train.py", "--auth", "me:" MARK},
    {"python", "train.py", "--use-auth-token", MARK},
    {"python", "-c", "import wandb; wandb.login(key='x', api_key='" MARK "')"},
    {"python", "-c", "import os; os.environ['HF_TOKEN'] = '" MARK "'; go()"},
    {"env", "HF_TOKEN=" MARK, "python", "train.py"},
    {"env", "WANDB_API_KEY=" MARK, "python", "train.py"},
    {"env", "PGPASSWORD=" MARK, "psql"},
    {"env", "MYSQL_PWD=" MARK, "mysql"},
    {"env", "WANDB_KEY=" MARK, "python", "train.py"},
    {"env", "AWS_SECRET_ACCESS_KEY=" MARK, "aws", "s3", "ls"},
    {"bash", "-c", "HF_TOKEN=" MARK " python train.py"},
    {"bash", "-c", "export HF_TOKEN=\"" MARK " x\" && python train.py"},
    {"bash", "-c", "export HF_TOKEN='" MARK "'; python train.py"},
    {"bash", "-c", "python train.py --password " MARK " --lr 1"},
    {"bash", "-lc", "bash -c \"HF_TOKEN=" MARK " python train.py\""},
    {"bash", "-c", "bash -c \"python -c \\\"login(token=\\\\\\\"" MARK "\\\\\\\")\\\"\""},
    {"bash", "-c", "curl -H \"Authorization: Bearer " MARK "\" https://host/x"},
    {"curl", "-H", "Authorization: Bearer " MARK, "https://host/x"},
    {"curl", "-H", "Authorization: Basic bWU6" MARK, "https://host/x"},
    {"curl", "-H", "authorization: token " MARK, "https://host/x"},
    {"curl", "-HAuthorization: Bearer " MARK, "https://host/x"},
    {"curl", "--header", "X-Api-Key: " MARK, "https://host/x"},
    {"curl", "-H", "X-Auth-Token:" MARK, "https://host/x"},
    {"curl", "-H", "Cookie: a=b; session=" MARK, "https://host/x"},
    {"curl", "--cookie", "session=" MARK, "https://host/x"},
    {"curl", "-b", "session=" MARK, "https://host/x"},
    {"curl", "--oauth2-bearer", MARK, "https://host/x"},
    {"curl", "-u", "me:" MARK, "https://host/x"},
    {"curl", "-ume:" MARK, "https://host/x"},
    {"curl", "--user", "me:" MARK, "https://host/x"},
    {"curl", "--user=me:" MARK, "https://host/x"},
    {"curl", "--proxy-user", "me:" MARK, "https://host/x"},
    {"curl", "-x", "http://me:" MARK "@proxy:3128", "https://host/x"},
    {"curl", "-x", "me:" MARK "@proxy:3128", "https://host/x"},
    {"curl", "-d", "{\"user\": \"me\", \"password\": \"" MARK "\"}", "https://host/x"},
    {"curl", "-d", "{'token':'" MARK "','a':1}", "https://host/x"},
    {"curl", "-d", "{token: " MARK ", a: 1}", "https://host/x"},
    {"curl", "-d", "user=me&password=" MARK "&a=1", "https://host/x"},
    {"bash", "-c", "curl -d \"{\\\"api_key\\\": \\\"" MARK "\\\"}\" https://host/x"},
    {"curl", "https://me:" MARK "@host/x"},
    {"curl", "https://me:" MARK "/1@host/x"},
    {"git", "clone", "https://" LONG "@github.com/a/b"},
    {"git", "clone", "https://oauth2:" MARK "@gitlab.com/a/b"},
    {"wget", "https://host/x?token=" MARK "&a=1"},
    {"wget", "https://host/x?a=1&key=" MARK},
    {"wget", "https://b.s3.amazonaws.com/x?X-Amz-Credential=a&X-Amz-Signature=" MARK},
    {"wget", "https://b.s3.amazonaws.com/x?X-Amz-Security-Token=" MARK "&X-Amz-Date=1"},
    {"wget", "https://a.blob.core.windows.net/c/x?sv=2022&sr=b&sig=" MARK "%3D"},
    {"wget", "https://storage.googleapis.com/b/x?X-Goog-Signature=" MARK},
    {"python", "train.py", "--db", "postgresql://me:" MARK "@db:5432/x"},
    {"python", "train.py", "--cache", "redis://:" MARK "@cache:6379/0"},
    {"python", "train.py", "--db", "mongodb+srv://me:" MARK "@db/x?w=1"},
    {"python", "train.py", "--db", "Server=db;User Id=me;Password=" MARK ";Encrypt=yes"},
    {"python", "train.py", "--db", "host=db user=me password=" MARK " sslmode=on"},
    {"python", "train.py", "--store", "AccountName=a;AccountKey=" MARK "==;EndpointSuffix=x"},
    {"python", "train.py", "--queue", "Endpoint=sb://a/;SharedAccessKey=" MARK "="},
    {"java", "-Djavax.net.ssl.keyStorePassword=" MARK, "-jar", "a.jar"},
    {"docker", "login", "-u", "me", "-p", MARK, "host"},
    {"docker", "run", "-e", "HF_TOKEN=" MARK, "image"},
    {"docker", "build", "--build-arg", "GITHUB_TOKEN=" MARK, "."},
    {"sshpass", "-p", MARK, "ssh", "host"},
    {"sshpass", "-p" MARK, "ssh", "host"},
    {"mysql", "-u", "me", "-p" MARK},
    {"redis-cli", "-h", "host", "-a", MARK},
    {"openssl", "rsa", "-passin", "pass:" MARK},
    {"aws", "configure", "set", "aws_secret_access_key", MARK},
    {"ngrok", "config", "add-authtoken", MARK},
    {"wandb", "login", MARK},
    {"huggingface-cli", "login", "--token", MARK},
    {"login", "hf_" LONG},
    {"login", "sk-proj-" LONG},
    {"login", "ghp_" LONG},
    {"login", "github_pat_" LONG},
    {"login", "glpat-" LONG},
    {"login", "xoxb-12-" LONG},
    {"login", "AIza" LONG},
    {"login", "nvapi-" LONG},
    {"login", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx" MARK "In0." LONG},
    {"bash", "-c", "login hf_" LONG " && go"},
    {"python", "-c", "login('sk-ant-" LONG "')"},
    {"login", LONG},
    {"login", "k=" LONG},
    {"login", LONG "=="},
    {"write", "-----BEGIN RSA PRIVATE KEY-----\n" MARK "\n-----END RSA PRIVATE KEY-----"},
    {"bash", "-c", "echo '-----BEGIN PRIVATE KEY-----\n" MARK "\n-----END PRIVATE KEY-----' > k"},
    {"bash", "-c", "echo '-----BEGIN OPENSSH PRIVATE KEY-----\n" MARK},
    {"bash", "-c",
     "set -a; . env; PASSWORD=a,b;"
     "TOKEN=" MARK "&& x"},
    {"srun", "--export=ALL,HF_TOKEN=" MARK, "python", "train.py"},
};

const Words kHarmless[] = {
    {"python", "train.py", "--lr", "3e-4", "--tokens", "1024", "--tokenizer", "gpt2"},
    {"python", "train.py", "--author", "x"},
    {"python", "train.py", "--max-tokens", "512", "--max_new_tokens=64"},
    {"python", "train.py", "--token", "--verbose"},
    {"python", "train.py", "--pad-token", "<pad>", "--eos_token", "</s>"},
    {"python", "train.py", "--pad-token-id", "0", "--num-token", "5"},
    {"python", "train.py", "--max-token-len", "2048", "--tokens-per-batch", "4096"},
    {"python", "train.py", "--task", "token_classification", "imdb"},
    {"python", "run_token_classification.py", "--dataset", "conll"},
    {"python", "train.py", "--token-classification", "conll"},
    {"python", "train.py", "--token-dropout", "0.1"},
    {"python", "train.py", "--use-auth-token", "true"},
    {"python", "train.py", "--save-password=false"},
    {"python", "train.py", "--password-file", "/run/pw", "--token_path", "/run/token"},
    {"python", "train.py", "--token-url", "https://host/oauth/token"},
    {"python", "train.py", "--passes", "3", "--forward-pass", "twice", "--pass", "2"},
    {"python", "train.py", "--num_passes=4", "--bypass", "cache"},
    {"python", "train.py", "--compass", "north", "--passenger", "x"},
    {"python", "train.py", "--sigma", "0.5", "--sigmoid", "yes", "--design", "a"},
    {"python", "train.py", "--sort-key", "loss", "--image-key", "jpg", "--label-key=cls"},
    {"python", "train.py", "--key-dim", "64", "--num-key-value-heads", "8"},
    {"python", "train.py", "--keyframes", "12", "--monkey", "x", "--keyword", "y"},
    {"python", "train.py", "--path", "/data/models/a", "--pattern", "*.py"},
    {"python", "train.py", "--patch-size", "16", "--patience", "3"},
    {"python", "train.py", "--authors", "a", "--authority", "b", "--authentic", "c"},
    {"python", "-m", "torch.distributed.run", "--nproc-per-node=8", "train.py"},
    {"python", "-u", "train.py"},
    {"python", "-c", "import torch; print(torch.ones(3).sum())"},
    {"python", "-c", "x = {'a': 1, 'b': [2, 3]}"},
    {"torchrun", "--rdzv-endpoint", "host:29500", "--rdzv-id", "job42", "train.py"},
    {"torchrun", "--master_addr=10.0.0.1", "--master_port=29500", "train.py"},
    {"mpirun", "-np", "8", "-H", "a:4,b:4", "./train"},
    {"srun", "--ntasks=8", "--gpus-per-task=1", "python", "train.py"},
    {"srun", "--export=ALL,OMP_NUM_THREADS=8", "python", "train.py"},
    {"docker", "run", "-u", "1000:1000", "-p", "8080:80", "-v", "/a:/b:ro", "image:tag"},
    {"docker", "run", "nvcr.io/nvidia/pytorch:24.01-py3"},
    {"docker", "run",
     "image:1@sha256:6e5f1cbd7a0c2a7a0b1f2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f70"},
    {"ssh", "-p", "22", "me@host", "nvidia-smi"},
    {"scp", "run.gpf", "me@host:/data/run.gpf"},
    {"git", "clone", "git@github.com:a/b.git"},
    {"git", "clone", "ssh://git@github.com/a/b.git"},
    {"git", "checkout", "--revision", "0123456789abcdef0123456789abcdef01234567"},
    {"python", "train.py", "--commit=0123456789abcdef0123456789abcdef01234567"},
    {"python", "train.py", "--git-sha", "0123456789abcdef0123456789abcdef01234567"},
    {"python", "train.py", "/hub/snapshots/0123456789abcdef0123456789abcdef01234567/model"},
    {"python", "train.py", "--id", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
    {"python", "train.py", "https://host:8080/a@b"},
    {"python", "train.py", "https://host/a:b@c", "s3://bucket/a@b"},
    {"python", "train.py", "https://host/x?page=3&sort=loss"},
    {"python", "train.py", "https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct"},
    {"python", "train.py", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct-AWQ"},
    {"python", "train.py", "--model", "bert-base-uncased-finetuned-SQuAD2-v1_fp16"},
    {"python", "train.py", "/data/very/long/path/of/a/dataset/with/0123456789/shards.tar"},
    {"python", "train.py", "/data/Train/Imagenet2012/train/n01440764/n01440764_10026.JPEG"},
    {"python", "train.py", "data/Imagenet2012/Train/n01440764/Val123/n01440764_10026.JPEG"},
    {"python", "train.py", "--output", "runs/2026-11-23_12-00-00/lr3e-4_bs256_seed42_fp16"},
    {"python", "train.py", "--name", "sk-learn-based-classifier-model"},
    {"python", "train.py", "--cache", "hf_hub_download_cache_directory"},
    {"python", "train.py", "optimizer.lr=3e-4", "model.hidden=[1024,1024]", "+trainer.gpus=8"},
    {"python", "train.py", "--config", "{\"lr\": 0.1, \"layers\": [1, 2], \"name\": \"x\"}"},
    {"python", "train.py", "--prompt", "Write a poem about a secretary and her keyboard."},
    {"python", "train.py", "--time", "12:30", "--ratio", "16:9"},
    {"bash", "-c", "cd /work && python train.py --lr 0.1 | tee log.txt"},
    {"bash", "-c", "for i in 1 2 3; do python train.py --seed $i; done"},
    {"nsys", "profile", "-t", "cuda,nvtx", "-o", "report", "python", "train.py"},
    {"ncu", "--metrics", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "./a.out"},
    {"vllm", "serve", "model", "--max-num-batched-tokens", "8192", "--port", "8000"},
    {"numactl", "--cpunodebind=0", "--membind=0", "./train"},
    {"run", "sk-1", "a=b", "hf_x", "x/y/z"},
};

TEST(Secrets, NoneOfTheCorpusStays) {
  for (const auto& words : kWithSecrets) {
    const std::string kept = masked_command(words);
    EXPECT_EQ(kept.find(MARK), kept.npos) << joined(words) << "\n" << kept;
    EXPECT_NE(kept.find("***"), kept.npos) << kept;
    EXPECT_TRUE(kept.starts_with(words[0])) << kept;
    EXPECT_EQ(without_secrets(kept).find(MARK), kept.npos);
    // As one text, such as a variable's value: whatever stands in it unquoted.
    EXPECT_EQ(program_and_script(words).find(MARK), kept.npos) << joined(words);
  }
  EXPECT_GE(std::size(kWithSecrets), 60u);
}

TEST(Secrets, HarmlessCommandsStayReadable) {
  for (const auto& words : kHarmless) EXPECT_EQ(masked_command(words), joined(words));
  EXPECT_GE(std::size(kHarmless), 60u);
}

TEST(Secrets, WhatStandsAroundThemStays) {
  const std::pair<Words, const char*> cases[] = {
      {{"python", "train.py", "--password", "hunter2", "--lr", "0.1"},
       "python train.py --password *** --lr 0.1"},
      {{"train", "--hf-token=abc", "--api_key", "x"}, "train --hf-token=*** --api_key ***"},
      {{"env", "WANDB_API_KEY=0123", "train"}, "env WANDB_API_KEY=*** train"},
      {{"run", "0123456789abcdef0123456789abcdef01234567"}, "run ***"},
      {{"fetch", "https://me:pass@host/x"}, "fetch https://me:***@host/x"},
      {{"bash", "-c", "HF_TOKEN=abc python train.py --lr 1"},
       "bash -c HF_TOKEN=*** python train.py --lr 1"},
      {{"bash", "-c", "curl -H \"Authorization: Bearer abc\" https://host"},
       "bash -c curl -H \"Authorization: ***\" https://host"},
      {{"curl", "-d", R"({"user": "me", "password": "x", "n": 1})"},
       R"(curl -d {"user": "me", "password": "***", "n": 1})"},
      {{"wget", "https://host/x?sv=1&sig=abcd&se=2"}, "wget https://host/x?sv=1&sig=***&se=2"},
      {{"x", "Server=db;Password=abc;Encrypt=yes"}, "x Server=db;Password=***;Encrypt=yes"},
      {{"srun", "--export=ALL,HF_TOKEN=abc,OMP_NUM_THREADS=8", "x"},
       "srun --export=ALL,HF_TOKEN=***,OMP_NUM_THREADS=8 x"},
  };
  for (const auto& [words, expected] : cases) EXPECT_EQ(masked_command(words), expected);
}

TEST(Secrets, OfACommandTheProgramAndScript) {
  const std::pair<Words, const char*> cases[] = {
      {{"python", "train.py", "--lr", "0.1"}, "python train.py"},
      {{"/usr/bin/python3.11", "-u", "src/train.py", "a.py"}, "/usr/bin/python3.11 src/train.py"},
      {{"python", "-m", "vllm.serve", "--port", "1"}, "python -m vllm.serve"},
      {{"python", "-c", "print('abc')", "x.py"}, "python"},
      {{"bash", "-c", "HF_TOKEN=abc ./x.sh"}, "bash"},
      {{"srun", "-n", "8", "python", "train.py", "--x"}, "srun python train.py"},
      {{"torchrun", "--nproc-per-node=8", "train.py", "--x"}, "torchrun train.py"},
      {{"env", "HF_TOKEN=abc", "./train", "--x"}, "env ./train"},
      {{"./train", "data.py", "--x"}, "./train"},
      {{"hf_abcdefghijklmnopqrstuvwx"}, "***"},
      {{}, ""},
  };
  for (const auto& [words, expected] : cases) EXPECT_EQ(program_and_script(words), expected);
}

TEST(Secrets, LargeAndStrangeTextsTakeAMoment) {
  for (const char* piece : {"://a:b", "token=\"", "-u a:", "a@b:c", "-----BEGIN PRIVATE KEY",
                            "bearer ", "\\\"", "mysql -p", "hf_", "aZ0", "=", "&"}) {
    std::string text;
    while (text.size() < 100'000) text += piece;
    EXPECT_LE(without_secrets(text).size(), text.size() * 2) << piece;
  }
  EXPECT_EQ(without_secrets(std::string(8 << 20, 'a')), "***");
  EXPECT_EQ(without_secrets(""), "");
}

}  // namespace
}  // namespace gf
