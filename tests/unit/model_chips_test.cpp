#include <gtest/gtest.h>

#include "analyze/work/ceilings.h"
#include "model/chips.h"

namespace gf {
namespace {

TEST(Chips, TableIsIndexedById) {
  for (std::size_t i = 0; i < kChips; ++i)
    EXPECT_EQ(static_cast<std::size_t>(chips()[i].id), i) << chips()[i].name;
}

TEST(Chips, FoundByNameFamilyAndComputeCapability) {
  EXPECT_EQ(find_chip("gh100")->id, ChipId::GH100);
  EXPECT_EQ(find_chip("TU104")->id, ChipId::TU102);
  EXPECT_EQ(find_chip("TU1"), nullptr);
  EXPECT_EQ(find_chip(""), nullptr);
  EXPECT_EQ(find_chip(9, 0)->id, ChipId::GH100);
  EXPECT_EQ(find_chip(8, 7)->id, ChipId::GA102);
  EXPECT_EQ(find_chip(8, 9)->id, ChipId::AD102);
  EXPECT_EQ(find_chip(10, 3)->id, ChipId::GB110);
  EXPECT_EQ(find_chip(6, 0), nullptr);
  EXPECT_EQ(find_chip(-1, -1), nullptr);
  EXPECT_EQ(find_chip("NVIDIA A100-SXM4-80GB", -1, -1)->id, ChipId::GA100);
  EXPECT_EQ(find_chip("AMD Instinct MI300X", -1, -1), nullptr);
  // What ROCm calls the compute capability of an MI300X is no Hopper.
  EXPECT_EQ(find_chip("AMD Instinct MI300X", 9, 4), nullptr);
  EXPECT_EQ(find_chip("AMD Instinct MI250X / MI250", 9, 0), nullptr);
}

TEST(Chips, ProductsMatchWholeWords) {
  struct Case {
    const char* name;
    ChipId chip;
    int sms;
  };
  for (const Case& chip_id : {Case{"NVIDIA H200", ChipId::GH100, 132},
                              {"NVIDIA H100 PCIe", ChipId::GH100, 114},
                              {"NVIDIA H100 80GB HBM3", ChipId::GH100, 132},
                              {"NVIDIA GH200 480GB", ChipId::GH100, 132},
                              {"Tesla V100-SXM2-16GB", ChipId::GV100, 80},
                              {"NVIDIA A10", ChipId::GA102, 72},
                              {"NVIDIA A100-SXM4-40GB", ChipId::GA100, 108},
                              {"NVIDIA L4", ChipId::AD102, 58},
                              {"NVIDIA L40S", ChipId::AD102, 142},
                              {"NVIDIA B200", ChipId::GB100, 148},
                              {"NVIDIA GeForce RTX 3090 Ti", ChipId::GA102, 84}}) {
    const Product* product = find_product(chip_id.name);
    ASSERT_NE(product, nullptr) << chip_id.name;
    EXPECT_EQ(product->chip, chip_id.chip) << chip_id.name;
    EXPECT_EQ(product->sm_count, chip_id.sms) << chip_id.name;
  }
  EXPECT_EQ(find_product("NVIDIA RTX A1000"), nullptr);
  EXPECT_EQ(sms_of("NVIDIA H200", -1), 132);
  EXPECT_EQ(sms_of("NVIDIA H200", 60), 60);
  EXPECT_EQ(sms_of("NVIDIA H200 MIG 1g.18gb", -1), -1);
  EXPECT_EQ(sms_of("NVIDIA RTX A1000", -1), -1);
  // ROCm's name for both boards: their compute units tell them apart.
  EXPECT_EQ(find_product("AMD Instinct MI250X / MI250", 104)->pattern, "MI250");
  EXPECT_EQ(find_product("AMD Instinct MI250X / MI250", 110)->pattern, "MI250X");
  EXPECT_EQ(find_product("AMD Instinct MI250X / MI250", 7)->pattern, "MI250X");
  EXPECT_EQ(find_product("NVIDIA H100 PCIe", 132)->sm_count, 114);
  EXPECT_EQ(find_product(""), nullptr);
}

// FP16 with FP32 sums, dense, TFLOP/s: what the data sheet of each product states.
TEST(Chips, ProductsReachTheirDataSheetPeaks) {
  struct Case {
    const char* name;
    double tera;
  };
  for (const auto& [name, tera] : {Case{"Tesla V100-SXM2-16GB", 125},
                                   {"Tesla V100-PCIE-32GB", 112},
                                   {"Tesla V100S-PCIE-32GB", 130},
                                   {"Tesla T4", 65},
                                   {"NVIDIA A100-SXM4-80GB", 312},
                                   {"NVIDIA A30", 165},
                                   {"NVIDIA A10", 125},
                                   {"NVIDIA A40", 149.7},
                                   {"NVIDIA RTX A6000", 154.8},
                                   {"NVIDIA GeForce RTX 3090", 71},
                                   {"NVIDIA GeForce RTX 3090 Ti", 80},
                                   {"NVIDIA L4", 121},
                                   {"NVIDIA L40S", 362},
                                   {"NVIDIA L40", 181},
                                   {"NVIDIA RTX 6000 Ada Generation", 364.2},
                                   {"NVIDIA GeForce RTX 4090", 165.2},
                                   {"NVIDIA H100 PCIe", 756.5},
                                   {"NVIDIA H100 NVL", 835.5},
                                   {"NVIDIA H100 80GB HBM3", 989.4},
                                   {"NVIDIA H200", 989.4},
                                   {"NVIDIA H200 NVL", 835.5},
                                   {"NVIDIA GH200 480GB", 989.4},
                                   {"NVIDIA B200", 2250},
                                   {"NVIDIA GB200", 2500},
                                   {"NVIDIA B300 SXM6 AC", 2250},
                                   {"NVIDIA GB300", 2500},
                                   {"NVIDIA A10G", 70},
                                   {"AMD Instinct MI210", 181},
                                   {"AMD Instinct MI250X", 191.5},
                                   {"AMD Instinct MI250X / MI250", 191.5},
                                   {"AMD Instinct MI250", 181},
                                   {"AMD Instinct MI300X", 1307.4},
                                   {"AMD Instinct MI325X", 1307.4},
                                   {"AMD Instinct MI300A", 980.6},
                                   {"AMD Instinct MI350X", 2306.9},
                                   {"AMD Instinct MI355X", 2516.6},
                                   {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 503.8},
                                   {"NVIDIA GeForce RTX 5090", 209.5},
                                   {"NVIDIA GeForce RTX 5080", 112.6}}) {
    const Product* product = find_product(name);
    ASSERT_NE(product, nullptr) << name;
    EXPECT_NEAR(*stated_peak(*product, "fp16") * 1e-12, tera, 0.01 * tera) << name;
  }
}

// The other types, TFLOP/s, and device memory, GB/s.
TEST(Chips, ProductsReachTheirDataSheetPeaksOfOtherTypes) {
  struct Case {
    const char *name, *type;
    double tera, dram;
  };
  for (const auto& [name, type, tera, dram] : {Case{"NVIDIA A10G", "int8", 140, 600},
                                               {"NVIDIA A10G", "fp32", 35, 600},
                                               {"NVIDIA A10", "int8", 250, 600},
                                               {"Tesla T4", "int8", 130, 320},
                                               {"NVIDIA L4", "fp8", 242.5, 300},
                                               {"NVIDIA L40S", "bf16", 362, 864},
                                               {"NVIDIA GeForce RTX 3090", "int8", 284, 936},
                                               {"NVIDIA GeForce RTX 4090", "int8", 660.6, 1008},
                                               {"NVIDIA GH200 480GB", "fp8", 1979, 4000},
                                               {"NVIDIA B200", "fp8", 4500, 8000},
                                               {"NVIDIA GB200", "fp4", 10000, 8000},
                                               {"NVIDIA GB300", "fp8", 5000, 8000},
                                               {"AMD Instinct MI210", "fp64", 45.3, 1638},
                                               {"AMD Instinct MI210", "fp32", 45.3, 1638},
                                               {"AMD Instinct MI250X", "int8", 191.5, 1638},
                                               {"AMD Instinct MI300X", "fp8", 2614.9, 5300},
                                               {"AMD Instinct MI300X", "tf32", 653.7, 5300},
                                               {"AMD Instinct MI300X", "fp32", 163.4, 5300},
                                               {"AMD Instinct MI325X", "bf16", 1307.4, 6000}}) {
    const Product* product = find_product(name);
    ASSERT_NE(product, nullptr) << name;
    EXPECT_NEAR(*stated_peak(*product, type) * 1e-12, tera, 0.01 * tera) << name << " " << type;
    EXPECT_EQ(*ceiling(stated_ceilings(*product), "dram"), dram * 1e9) << name;
  }
}

// Data-sheet peaks follow from the table: SMs x boost clock x operations a cycle.
TEST(Chips, DenseRatesGiveTheDataSheetPeaks) {
  struct Case {
    ChipId chip;
    TensorType type;
    int sms;
    double ghz, tera;
  };
  for (const Case& chip_id : {Case{ChipId::GH100, TensorType::bf16, 132, 1.830, 989.4},
                              {ChipId::GH100, TensorType::fp8, 132, 1.830, 1978.9},
                              {ChipId::GH100, TensorType::tf32, 132, 1.830, 494.7},
                              {ChipId::GA100, TensorType::bf16, 108, 1.410, 312},
                              {ChipId::GA100, TensorType::fp64, 108, 1.410, 19.5},
                              {ChipId::GV100, TensorType::fp16, 80, 1.530, 125},
                              {ChipId::AD102, TensorType::fp8, 128, 2.520, 660.6},
                              {ChipId::TU102, TensorType::int8, 72, 1.770, 261},
                              {ChipId::GB202, TensorType::fp4, 170, 2.407, 1676}}) {
    const TensorPath* path = tensor_path(chip_id.chip, chip_id.type);
    ASSERT_NE(path, nullptr);
    EXPECT_NEAR(path->dense_ops * chip_id.sms * chip_id.ghz * 1e-3 / chip_id.tera, 1.0, 0.005)
        << chip(chip_id.chip).name << " " << name_of(chip_id.type);
  }
  EXPECT_EQ(tensor_path(ChipId::GV100, TensorType::bf16), nullptr);
}

}  // namespace
}  // namespace gf
