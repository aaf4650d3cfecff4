/* What a Python file does with values: who is bound to what, passed where and called with what. */

#ifndef SCRUBJAY_PYTHON_FLOW_H
#define SCRUBJAY_PYTHON_FLOW_H

#include "output.h"
#include "python_tree.h"

/* Write the same bytes as `scrubjay.code_index.graph.python_flow` does; 0 when the file is declined or there is no memory. */
int write_flow(Tree *tree, Output *flow);

#endif
