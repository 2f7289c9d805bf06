// What of an amount over a span belongs to which process of a device.
#pragma once

#include <span>
#include <vector>

#include "analyze/tenants/presence.h"

namespace gf {

struct TenantPart {
  double value = 0;  // by time at work, time together in equal shares
  double low = 0;    // what no other process can have had
  double high = 0;   // what it can have had
  void add(const TenantPart& other) {
    value += other.value;
    low += other.low;
    high += other.high;
  }
};

struct TenantSplit {
  std::vector<TenantPart> parts;  // by process
  TenantPart rest;                // no process was at work
};

/// Splits an amount of which a device does at most `most` a nanosecond, and nothing while no
/// process has work. The values of the parts and the rest sum to the amount.
TenantSplit split_amount(const PresenceShare& share, double amount, double most);

}  // namespace gf
