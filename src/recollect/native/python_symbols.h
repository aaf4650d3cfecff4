/* What a Python file defines and uses. */

#ifndef RECOLLECT_PYTHON_SYMBOLS_H
#define RECOLLECT_PYTHON_SYMBOLS_H

#include "output.h"
#include "python_tree.h"

/* The outline and the uses as JSON, as `recollect.codebase.packed_facts` keeps them; 0 when it declines or there is no memory. */
int write_symbols(Tree *tree, Output *outline, Output *uses);

#endif
