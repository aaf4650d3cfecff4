/* The tree of a Python file as JSON, for tests and debugging. */

#include <stdlib.h>

#include "api.h"
#include "output.h"
#include "python_tree.h"

static void put_text_or_null(Output *output, const Text *texts, int32_t number) {
    if (number < 0) put_bytes(output, "null", 4);
    else put_text(output, texts[number].bytes, texts[number].length);
}

static void put_node(Output *output, const Tree *tree, Ref ref);

static void put_run(Output *output, const Tree *tree, Run run, int are_names) {
    put_sign(output, '[');
    for (int32_t i = 0; i < run.count; i++) {
        if (i) put_sign(output, ',');
        if (are_names) put_text_or_null(output, tree->names, tree->items[run.first + i]);
        else put_node(output, tree, tree->items[run.first + i]);
    }
    put_sign(output, ']');
}

/* Write all parts of a node in order; unused parts are null. */
static void put_node(Output *output, const Tree *tree, Ref ref) {
    if (!ref) {
        put_bytes(output, "null", 4);
        return;
    }
    const Node *node = tree->nodes + ref;
    const int64_t numbers[] = {node->kind, node->form, node->start, node->end, node->line, node->end_line, node->number};
    const Ref parts[] = {node->a, node->b, node->c};
    put_sign(output, '[');
    for (int i = 0; i < 7; i++) {
        put_number(output, numbers[i]);
        put_sign(output, ',');
    }
    put_text_or_null(output, tree->names, node->name);
    put_sign(output, ',');
    put_text_or_null(output, tree->names, node->other);
    put_sign(output, ',');
    put_text_or_null(output, tree->texts, node->kind == TEXT ? node->text : -1);
    put_sign(output, ',');
    put_number(output, node->kind == TEXT ? tree->texts[node->text].letters : 0);
    for (int i = 0; i < 3; i++) {
        put_sign(output, ',');
        put_node(output, tree, parts[i]);
    }
    put_sign(output, ',');
    put_run(output, tree, node->items, node->kind == GLOBAL || node->kind == NONLOCAL);
    put_sign(output, ',');
    put_run(output, tree, node->more, 0);
    put_sign(output, ']');
}

static uint8_t *given(Output *output, int64_t *size) {
    *size = output->used;
    if (!output->failed) return output->bytes;
    end_output(output);
    return NULL;
}

/* Return the statements of a file and its line starts as JSON; NULL if it is declined. The caller frees the result with the function
   below. */
SCRUBJAY_API uint8_t *scrubjay_python_tree_json(const uint8_t *content, int32_t length, int64_t *size) {
    Output output = {0};
    Tree *tree = read_tree(content, length);
    if (!tree) return NULL;
    put_sign(&output, '[');
    put_run(&output, tree, tree->body, 0);
    put_bytes(&output, ",[", 2);
    for (int32_t i = 0; i < tree->line_count; i++) {
        if (i) put_sign(&output, ',');
        put_number(&output, tree->line_starts[i]);
    }
    put_bytes(&output, "]]", 2);
    end_tree(tree);
    return given(&output, size);
}

/* Like the function above, for the expression of an annotation, read within the tree of an empty file. */
SCRUBJAY_API uint8_t *scrubjay_python_annotation_json(const uint8_t *content, int32_t length, int64_t *size, int *is_wrong) {
    Output output = {0};
    *is_wrong = 0;
    Tree *around = read_tree(content, 0), *tree = around ? read_annotation(around, content, length, is_wrong) : NULL;
    if (tree) put_node(&output, tree, tree->expression);
    end_tree(tree);
    end_tree(around);
    return tree ? given(&output, size) : NULL;
}

SCRUBJAY_API void scrubjay_python_json_free(uint8_t *bytes) { free(bytes); }
