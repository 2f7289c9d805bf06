// Packed samples as a table of SQL, unpacked while a statement runs.
#pragma once

#include <sqlite3.h>

#include <memory>

#include "core/error.h"
#include "model/capture.h"

namespace gf {

/// Lets statements on an open capture file see all of its samples, read by read_samples: temporary
/// tables `counter_samples` and
/// `_counter_samples` stand before the file's own, which lack the packed ones, and `quality` also
/// tells what of them is damaged (unless that stands in the database already). Conditions on
/// device, metric and start_ns pass over blocks that cannot meet them.
Status show_samples(sqlite3* db, std::shared_ptr<const Capture> samples, bool with_damage = true);

}  // namespace gf
