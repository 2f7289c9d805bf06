// The keys of events and of their args that are read. In a header, so that the fast reader has the
// look-up inside its loop.
#pragma once

#include "import/kineto/event.h"
#include "import/kineto/key_table.h"

namespace gf::kineto {

inline constexpr std::pair<std::string_view, Field> kArgs[] = {
    {"External id", Field::external_id},
    {"external id", Field::external_id},  // 2021 spelling
    {"correlation", Field::correlation},
    {"device", Field::device},
    {"context", Field::context},
    {"stream", Field::stream},
    {"registers per thread", Field::registers},
    {"shared memory", Field::shared_memory},
    {"grid", Field::grid},
    {"block", Field::block},
    {"est. achieved occupancy %", Field::occupancy},
    {"graph id", Field::graph_id},
    {"graph node id", Field::graph_node},
    {"bytes", Field::bytes},
    {"fromDevice", Field::from_device},
    {"toDevice", Field::to_device},
    {"Sequence number", Field::sequence},
    {"Fwd thread id", Field::forward_thread},
    {"Input Dims", Field::input_dims},
    {"Input dims", Field::input_dims},
    {"Input type", Field::input_type},
    {"Concrete Inputs", Field::input_values},
    {"Input Strides", Field::input_strides},
    {"Call stack", Field::call_stack},
    {"Module Hierarchy", Field::module_hierarchy},
    {"Python id", Field::python_id},
    {"Python parent id", Field::python_parent},
    {"Python module id", Field::python_module},
    {"cuda_sync_kind", Field::sync_kind},
    {"wait_on_stream", Field::wait_on_stream},
    {"wait_on_cuda_event_record_corr_id", Field::wait_on_correlation},
    {"Collective name", Field::collective},
    {"In msg nelems", Field::in_elements},
    {"Out msg nelems", Field::out_elements},
    {"Group size", Field::group_size},
    {"dtype", Field::dtype},
    {"Process Group Name", Field::group_name},
    {"Process Group Description", Field::group_description},
    {"Process Group Ranks", Field::group_ranks},
    {"Seq", Field::collective_sequence},
    {"Src Rank", Field::from_rank},
    {"Dst Rank", Field::to_rank},
    {"Comms Id", Field::communicator},
    {"Addr", Field::address},
    {"Bytes", Field::allocation_bytes},
    {"Total Allocated", Field::total_allocated},
    {"Total Reserved", Field::total_reserved},
    {"Device Type", Field::device_type},
    {"Device Id", Field::device_id},
    {"name", Field::arg_name},
    {"", Field::counter_value},
};

inline constexpr KeyTable kArgsTable(kArgs, Field::count);

inline constexpr std::pair<std::string_view, Field> kEvent[] = {
    {"ph", Field::ph},   {"cat", Field::cat}, {"name", Field::name}, {"pid", Field::pid},
    {"tid", Field::tid}, {"ts", Field::ts},   {"dur", Field::dur},   {"id", Field::id}};

inline constexpr KeyTable kEventTable(kEvent, Field::count);

/// The field behind a key of an event or of its args; Field::count for keys that nobody reads.
inline Field event_field(std::string_view key) { return kEventTable.find(key); }
inline Field args_field(std::string_view key) { return kArgsTable.find(key); }

}  // namespace gf::kineto
