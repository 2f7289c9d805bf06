// The layer type that a name stands for, by the vocabulary.
#pragma once

#include <string_view>

#include "analyze/names.h"
#include "model/capture.h"

namespace gf {

/// By the name of a framework operation; other when no pattern fits.
LayerType layer_of_operation(std::string_view name);
/// By a module path: the class of its innermost module.
LayerType layer_of_module(std::string_view path);
/// By the name of a kernel: the fallback for compiled graphs and traces without host side.
LayerType layer_of_kernel(std::string_view name);

/// "Cast" of "dense/einsum/Cast:Cast", as TensorFlow names the operation of a kernel; empty for
/// other texts.
std::string_view type_in_scope(std::string_view scope);

/// "dense/einsum" of "replica_4/dense/einsum/Cast:Cast": what is around the operation, alike on all
/// devices; of an operation in nothing its name.
std::string_view around_operation(std::string_view scope);

/// True where the scope of a kernel says more of its layer than the operation that launched it:
/// TensorFlow's executor launches all kernels of a function.
bool names_scopes(const Capture& capture);

/// True when an operation of type `outer` around one of type `inner` decides the type: the matrix
/// product inside an attention is Attention, the softmax inside a cross entropy is Loss. A cast or
/// copy stays a Copy everywhere.
bool outer_decides(LayerType outer, LayerType inner);

}  // namespace gf
