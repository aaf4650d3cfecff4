/* What a Python file defines and uses. */

#ifndef SCRUBJAY_PYTHON_SYMBOLS_H
#define SCRUBJAY_PYTHON_SYMBOLS_H

#include "output.h"
#include "python_tree.h"

/* The outline and the uses as JSON, as `scrubjay.code_index.facts.packed_facts` keeps them; 0 when it declines or there is no memory. */
int write_symbols(Tree *tree, Output *outline, Output *uses);

#endif
