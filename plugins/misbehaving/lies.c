/* Breaks the contract where Rust and its kit cannot: with raw pointers, lengths and answers. The option `how` names the
 * way while it runs; the macro `LOAD` names the way while it is loaded. Only tests build it. */
#include "clinker_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define MAP CLINKER_KIND_MAP
#define LIST CLINKER_KIND_LIST
#define NUMBER CLINKER_KIND_NUMBER
#define COUNT(items) (sizeof(items) / sizeof *(items))

#ifndef LOAD
#define LOAD 0
#endif
enum {
    FINE, NO_ENTRY, WRONG_MAGIC, SMALL_TABLE, OTHER_MAJOR, LOAD_ERROR, LOAD_STATUS, NO_FORMATS, NO_DECODE,
    UNKNOWN_OPTION, CONTRADICTION, OPTIONS_TEXT, NO_SPLIT, TAKEN, TWICE, FOREIGN_LOAD, LOAD_REPLY
};

/* ---- values: constants and the heap of the process; nothing of it is released, as tests end soon ---- */

static struct clinker_str str(const char *text) { return (struct clinker_str){(const uint8_t *)text, strlen(text)}; }

static struct clinker_value text(const char *name, const char *said) {
    return (struct clinker_value){.name = str(name), .kind = CLINKER_KIND_TEXT, .text = str(said)};
}

static struct clinker_value number(const char *name, uint64_t value) {
    return (struct clinker_value){.name = str(name), .kind = NUMBER, .number = value};
}

static struct clinker_value many(const char *name, uint32_t kind, const struct clinker_value *items, size_t count) {
    struct clinker_value *kept = calloc(count + 1, sizeof *kept);
    if (!kept) abort();
    memcpy(kept, items, count * sizeof *kept);
    return (struct clinker_value){.name = str(name), .kind = kind, .items = kept, .count = count};
}

static const struct clinker_value *entry(const struct clinker_value *map, const char *name) {
    for (size_t at = 0; map && at < map->count; at++)
        if (map->items[at].name.len == strlen(name) && !memcmp(map->items[at].name.data, name, strlen(name)))
            return &map->items[at];
    return NULL;
}

static uint32_t fault(struct clinker_reply *reply, const char *code) {
    struct clinker_value items[] = {text("kind", "corruption"), text("code", code), number("line", 1), text("reason", "made up")};
    reply->value = many("", MAP, items, COUNT(items));
    return CLINKER_STATUS_FAULT;
}

/* An exception of another language. */
static void throw_foreign(void) {
    static struct _Unwind_Exception exception;
    memcpy(&exception.exception_class, "LIESLIES", 8);
    _Unwind_RaiseException(&exception);
    abort();
}

/* ---- registration ---- */

static uint32_t load(struct clinker_reply *reply) {
    if (LOAD == FOREIGN_LOAD) throw_foreign();
    if (LOAD == LOAD_ERROR) {
        reply->value = text("", "there is no licence");
        return CLINKER_STATUS_ERROR;
    }
    if (LOAD == LOAD_STATUS) return 77;
    if (LOAD == LOAD_REPLY) {
        reply->value = (struct clinker_value){.kind = LIST, .items = NULL, .count = 3};
        return CLINKER_STATUS_OK;
    }
    struct clinker_value option[] = {text("key", "how"), text("type", LOAD == UNKNOWN_OPTION ? "colour" : "text"),
                                     text("doc", "The way to break the contract."),
                                     text("default", LOAD == CONTRADICTION ? "x" : ""),
                                     {.name = str("required"), .kind = CLINKER_KIND_BOOL, .number = LOAD == CONTRADICTION}};
    struct clinker_value options[] = {many("", MAP, option, COUNT(option))};
    struct clinker_value can[] = {text("", "split_values"), text("", "split_escapes"), text("", "undeclared_fields")};
    struct clinker_value direction[] = {LOAD == OPTIONS_TEXT ? text("options", "how") : many("options", LIST, options, 1),
                                        many("capabilities", LIST, can, COUNT(can))};
    struct clinker_value write[] = {direction[0], text("no_split", LOAD == NO_SPLIT ? "Elephant" : "E338")};
    struct clinker_value format[] = {text("name", LOAD == TAKEN ? "csv" : "lies"), text("summary", "Breaks the contract."),
                                     many("read", MAP, direction, 2), many("write", MAP, write, 2)};
    struct clinker_value map = many("", MAP, format, COUNT(format)), formats[] = {map, map};
    reply->value = many("", LIST, formats, LOAD == NO_FORMATS ? 0 : LOAD == TWICE ? 2 : 1);
    return CLINKER_STATUS_OK;
}

/* ---- reading: a line is a row of one column ---- */

/* Handles of readers, cutters and decoders are the way. */
struct way {
    char how[40];
    int done;
};

static struct way *way_of(const char *how) {
    struct way *way = calloc(1, sizeof *way);
    if (!way) abort();
    strncpy(way->how, how, sizeof way->how - 1);
    return way;
}

static int is(const void *handle, const char *how) { return !strcmp(((const struct way *)handle)->how, how); }

static struct way *asked(const struct clinker_value *request) {
    const struct clinker_value *how = entry(entry(request, "options"), "how");
    struct way *way = way_of("");
    if (how && how->text.len < sizeof way->how) memcpy(way->how, how->text.data, how->text.len);
    return way;
}

#define GONE 99

static void free_way(void *handle) {
    /* Is kept, so that whoever looks at it again sees that it is gone. */
    if (is(handle, "shares_reader")) ((struct way *)handle)->done = GONE;
    else free(handle);
}

static uint32_t bind_reader(uint32_t format, const struct clinker_value *request, void **reader, struct clinker_reply *reply) {
    (void)format;
    struct way *way = asked(request);
    *reader = way;
    struct clinker_value level[] = {text("name", "all"), text("frame", is(way, "unknown_frame") ? "third" : "inherit")};
    struct clinker_value levels[] = {many("", MAP, level, COUNT(level))};
    struct clinker_value items[] = {many("levels", LIST, levels, 1)};
    reply->value = many("", MAP, items, 1);
    return is(way, "bind_end") ? CLINKER_STATUS_END : CLINKER_STATUS_OK;
}

static uint32_t open_file(void *reader, const struct clinker_call *call, const struct clinker_value *file,
                          const struct clinker_window *window, struct clinker_opened *opened) {
    (void)call, (void)file;
    struct clinker_value columns[] = {text("", "a")};
    struct clinker_value items[] = {is(reader, "columns_text") ? text("columns", "a") : many("columns", LIST, columns, 1)};
    opened->reply.value = many("", MAP, items, 1);
    opened->cutter = is(reader, "open_nothing") ? NULL : way_of(((struct way *)reader)->how);
    /* A decoder that looks at its reader, which the interface keeps for it. */
    opened->decoder = is(reader, "shares_reader") ? reader : way_of(((struct way *)reader)->how);
    opened->consumed = is(reader, "open_beyond") ? window->bytes.len + 1 : 0;
    return is(reader, "open_end") ? CLINKER_STATUS_END : CLINKER_STATUS_OK;
}

static void free_decoder(void *decoder) {
    if (is(decoder, "shares_reader")) return;
    free_way(decoder);
}

static void marks(struct clinker_cut *out, uint64_t row, int open, int close) {
    struct clinker_value level[] = {number("level", 0), number("line", 1)};
    struct clinker_value opens[] = {number("row", row), many("open", MAP, level, 2)}, closes[] = {number("row", row)};
    struct clinker_value list[2];
    size_t count = 0;
    if (open) list[count++] = many("", MAP, opens, 2);
    if (close) list[count++] = many("", MAP, closes, 1);
    struct clinker_value items[] = {many("marks", LIST, list, count)};
    out->reply.value = many("", MAP, items, 1);
}

static uint32_t cut(void *cutter, const struct clinker_call *call, const struct clinker_window *given,
                    struct clinker_bound bound, struct clinker_cut *out) {
    struct way *way = cutter;
    struct clinker_window window = *given;
    if (is(way, "null_window")) return call->more(call->context, 10, NULL);
    if (is(way, "host_invented")) return CLINKER_STATUS_HOST;
    if (is(way, "foreign")) throw_foreign();
    if (is(way, "idle")) return CLINKER_STATUS_OK;
    if (is(way, "early_end") && way->done) return CLINKER_STATUS_END;
    uint32_t status;
    while ((status = call->more(call->context, 1 << 20, &window)) == CLINKER_STATUS_OK) {
    }
    if (status == CLINKER_STATUS_HOST) {
        /* What failed is passed over, and the file is said to be at its end, or to be bad. */
        if (is(way, "failure_as_fault")) return fault(&out->reply, "E421");
        out->consumed = window.bytes.len;
        return CLINKER_STATUS_END;
    }
    const uint8_t *end = window.bytes.len ? memchr(window.bytes.data, '\n', window.bytes.len) : NULL;
    if (way->done || !end) {
        if (is(way, "notes_twice") || is(way, "unknown_note")) {
            struct clinker_value note[] = {text("code", is(way, "notes_twice") ? "W402" : "W999"), text("text", "made up")};
            struct clinker_value map = many("", MAP, note, 2), notes[] = {map, map};
            struct clinker_value items[] = {many("notes", LIST, notes, 2)};
            out->reply.value = many("", MAP, items, 1);
        }
        out->consumed = window.bytes.len;
        return CLINKER_STATUS_END;
    }
    way->done = 1;
    out->rows = 2;
    out->len = out->consumed = window.bytes.len;
    out->first_line = 1;
    if (is(way, "early_end")) out->rows = 1, out->len = out->consumed = (uint64_t)(end + 1 - window.bytes.data);
    if (is(way, "consume_beyond")) out->consumed++;
    if (is(way, "block_beyond")) out->start = UINT64_MAX, out->len = 2;
    if (is(way, "many_rows")) out->rows = bound.rows + 1;
    if (is(way, "rows_of_nothing")) out->len = 0;
    if (is(way, "close_unopened")) marks(out, 0, 0, 1);
    if (is(way, "never_closed")) marks(out, 0, 1, 0);
    if (is(way, "mark_beyond")) marks(out, 3, 1, 1);
    if (is(way, "reply_kind")) out->reply.value.kind = 99;
    if (is(way, "reply_nowhere")) out->reply.value = (struct clinker_value){.kind = MAP, .count = 4};
    if (is(way, "reply_misaligned"))
        out->reply.value = (struct clinker_value){.kind = LIST, .items = (const void *)((const char *)out + 1), .count = 1};
    if (is(way, "reply_text"))
        out->reply.value = (struct clinker_value){.kind = CLINKER_KIND_TEXT, .text = {(const uint8_t *)"\xFF", 1}};
    if (is(way, "status")) return 77;
    return CLINKER_STATUS_OK;
}

/* ---- columns ---- */

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

/* A struct of `width` columns of the cells `x`. */
static void batch(struct ArrowSchema *schema, struct ArrowArray *array, size_t width, int64_t rows, const char *const *names) {
    static const void *none[1] = {NULL};
    struct ArrowSchema **schemas = calloc(width + 1, sizeof *schemas);
    struct ArrowArray **arrays = calloc(width + 1, sizeof *arrays);
    if (!schemas || !arrays) abort();
    for (size_t at = 0; at < width; at++) {
        schemas[at] = calloc(1, sizeof *schema);
        arrays[at] = calloc(1, sizeof *array);
        const void **buffers = calloc(4, sizeof *buffers);
        int32_t *offsets = calloc(64, sizeof *offsets);
        if (!schemas[at] || !arrays[at] || !buffers || !offsets) abort();
        for (int row = 0; row < 64; row++) offsets[row] = row;
        buffers[1] = offsets;
        buffers[2] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
        *schemas[at] = (struct ArrowSchema){.format = "u", .name = names[at], .release = release_schema};
        *arrays[at] = (struct ArrowArray){.length = rows, .n_buffers = 3, .buffers = buffers, .release = release_array};
    }
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .n_children = (int64_t)width, .children = schemas, .release = release_schema};
    *array = (struct ArrowArray){.length = rows, .n_buffers = 1, .buffers = none, .n_children = (int64_t)width,
                                 .children = arrays, .release = release_array};
}

static void rejected(struct clinker_decoded *out, int64_t rows, uint32_t first, const char *code) {
    static const char *names[] = {"row", "code", "line", "offset", "reason", "raw"};
    batch(&out->rejected_schema, &out->rejected, 6, rows, names);
    uint64_t *zeros = calloc(64, sizeof *zeros);
    uint32_t *places = calloc(64, sizeof *places);
    if (!zeros || !places) abort();
    for (uint32_t row = 0; row < 2; row++) places[row] = first - row;
    for (size_t at = 0; at < 6; at++) {
        if (at > 0 && at != 2 && at != 3) continue;
        out->rejected_schema.children[at]->format = at ? "L" : "I";
        out->rejected.children[at]->n_buffers = 2;
        out->rejected.children[at]->buffers[1] = at ? (void *)zeros : (void *)places;
    }
    static int32_t offsets[64];
    for (int row = 0; row < 64; row++) offsets[row] = row * 4;
    out->rejected.children[1]->buffers[1] = offsets;
    char *codes = calloc(64, 4);
    if (!codes) abort();
    for (int row = 0; row < 64; row++) memcpy(codes + row * 4, code, 4);
    out->rejected.children[1]->buffers[2] = codes;
}

static void views(struct ArrowSchema *schema, struct ArrowArray *array, uint32_t buffer, uint32_t offset) {
    uint32_t *view = calloc(64, 16);
    int64_t *lengths = calloc(1, sizeof *lengths);
    if (!view || !lengths) abort();
    for (int row = 0; row < 64; row++) {
        view[row * 4] = 20;
        memcpy(&view[row * 4 + 1], "xxxx", 4);
        view[row * 4 + 2] = buffer;
        view[row * 4 + 3] = offset;
    }
    *lengths = 64;
    schema->format = "vu";
    array->n_buffers = 4;
    array->buffers[1] = view;
    array->buffers[3] = lengths;
}

static uint32_t decode(void *decoder, const struct clinker_call *call, const struct clinker_block *block,
                       const uint64_t *wanted, size_t count, struct clinker_decoded *out) {
    (void)call, (void)wanted;
    static const char *names[] = {"a", "b", "b"};
    int64_t rows = (int64_t)block->rows, endless = (int64_t)1 << 40;
    if (((struct way *)decoder)->done == GONE) return CLINKER_STATUS_ERROR;
    if (is(decoder, "no_columns")) return CLINKER_STATUS_OK;
    if (is(decoder, "decode_end")) {
        batch(&out->schema, &out->array, count, rows, names);
        return CLINKER_STATUS_END;
    }
    if (is(decoder, "endless_rows")) rows = endless;
    if (is(decoder, "negative_rows")) rows = -1;
    int bad = is(decoder, "rejected_order") || is(decoder, "rejected_code");
    if (bad) rows -= 2;
    if (is(decoder, "rejected_fault")) rows = 0;
    if (is(decoder, "unasked_columns") || is(decoder, "same_columns")) count += is(decoder, "same_columns") ? 2 : 1;
    if (is(decoder, "few_columns")) count = 0;
    batch(&out->schema, &out->array, count, rows, names);
    struct ArrowSchema *schema = count ? out->schema.children[0] : NULL;
    struct ArrowArray *array = count ? out->array.children[0] : NULL;
    if (is(decoder, "rejected_fault")) {
        /* The second row is rejected, and a fault stands in its place. */
        rejected(out, 1, 1, "E423");
        struct clinker_value items[] = {text("kind", "corruption"), text("code", "E422"), number("line", 1), text("reason", "made up")};
        struct clinker_value reply[] = {many("fault", MAP, items, COUNT(items))};
        out->reply.value = many("", MAP, reply, 1);
    }
    if (bad) rejected(out, 2, 1, is(decoder, "rejected_code") ? "E999" : "E423");
    if (is(decoder, "endless_rejected")) rejected(out, endless, 0, "E423");
    if (is(decoder, "too_many_rows")) out->array.length = 3;
    /* Two further columns of one name, and shapes that add up. */
    static const uint32_t shapes[] = {2, 2, 0, 1};
    struct clinker_value shape[] = {{.name = str("shapes"), .kind = CLINKER_KIND_BYTES, .text = {(const uint8_t *)shapes, sizeof shapes}}};
    if (is(decoder, "same_columns")) out->reply.value = many("", MAP, shape, 1);
    if (is(decoder, "no_schema")) out->schema.release = NULL;
    if (is(decoder, "no_struct")) out->schema.format = "u";
    static const void *nulls[1] = {"\xFF"};
    if (is(decoder, "null_structs")) out->array.buffers = nulls;
    if (is(decoder, "missing_column")) out->array.children[0] = NULL;
    if (is(decoder, "released_column")) array->release = NULL;
    if (is(decoder, "dictionary")) schema->dictionary = schema;
    if (is(decoder, "other_type")) schema->format = "i";
    if (is(decoder, "unequal")) array->length++;
    if (is(decoder, "negative_offset")) array->offset = -1;
    if (is(decoder, "far_offset")) array->offset = INT64_MAX;
    if (is(decoder, "few_buffers")) array->n_buffers = 1;
    if (is(decoder, "no_buffers")) array->buffers = NULL;
    if (is(decoder, "no_offsets")) array->buffers[1] = NULL;
    if (is(decoder, "no_text")) array->buffers[2] = NULL;
    if (is(decoder, "descending")) ((int32_t *)array->buffers[1])[0] = 9;
    if (is(decoder, "below_zero")) ((int32_t *)array->buffers[1])[0] = -9;
    if (is(decoder, "nulls_nowhere")) array->null_count = 1;
    if (is(decoder, "no_utf8")) array->buffers[2] = "\xFF\xFE";
    if (is(decoder, "half_character")) array->buffers[2] = "\xC3\xA4";
    if (is(decoder, "behind_block")) array->buffers[2] = block->data.data + block->data.len - 1;
    if (is(decoder, "view_nowhere")) views(schema, array, 7, 0);
    if (is(decoder, "view_beyond")) views(schema, array, 0, 60);
    if (is(decoder, "view_negative")) {
        views(schema, array, 0, 0);
        *(int64_t *)array->buffers[3] = -1;
    }
    if (is(decoder, "name")) schema->name = "\xFF";
    return CLINKER_STATUS_OK;
}

static uint32_t row_text(void *decoder, const struct clinker_block *block, uint64_t row, struct clinker_reply *reply) {
    (void)row;
    struct clinker_value items[] = {number("line", 1), text("raw", "x"),
                                    number("offset", is(decoder, "row_elsewhere") ? block->offset + block->data.len + 1 : block->offset)};
    reply->value = many("", MAP, items, is(decoder, "row_nowhere") ? 2 : 3);
    return CLINKER_STATUS_OK;
}

/* ---- writing ---- */

static uint32_t bind_writer(uint32_t format, const struct clinker_value *request, void **output, struct clinker_reply *reply) {
    (void)format;
    *output = asked(request);
    struct clinker_value items[] = {is(*output, "unknown_cells") ? text("cells", "voxels") : text("cells", "text")};
    reply->value = many("", MAP, items, 1);
    return CLINKER_STATUS_OK;
}

static uint32_t writer_open(void *output, const struct clinker_value *request, void **writer, struct clinker_reply *reply) {
    (void)request, (void)reply;
    *writer = is(output, "no_writer") ? NULL : way_of(((struct way *)output)->how);
    return CLINKER_STATUS_OK;
}

static uint32_t writer_columns(void *writer, const struct clinker_call *call, struct clinker_strs names, struct clinker_reply *reply) {
    (void)call, (void)names;
    if (is(writer, "columns_end")) return CLINKER_STATUS_END;
    if (is(writer, "columns_code")) return fault(reply, "E421");
    return CLINKER_STATUS_OK;
}

static uint32_t writer_rows(void *writer, const struct clinker_call *call, const struct clinker_rows *rows, struct clinker_encoded *out) {
    (void)call;
    size_t count = (size_t)rows->rows;
    uint32_t *ends = calloc(count + 2, sizeof *ends);
    uint8_t *bytes = calloc(count + 2, 2);
    if (!ends || !bytes) abort();
    for (size_t row = 0; row < count; row++) memcpy(bytes + row * 2, "x\n", 2), ends[row] = (uint32_t)row * 2 + 2;
    out->bytes = (struct clinker_str){bytes, count * 2};
    out->ends = ends;
    out->count = count;
    if (is(writer, "ends_nowhere")) out->ends = NULL;
    if (is(writer, "ends_misaligned")) out->ends = (const uint32_t *)((const char *)ends + 1);
    if (is(writer, "ends_descend")) ends[0] = (uint32_t)count * 2 + 1;
    if (is(writer, "ends_short")) out->bytes.len--;
    if (is(writer, "few_records")) out->count--, out->bytes.len -= 2;
    if (is(writer, "bytes_nowhere")) out->bytes.data = NULL;
    struct clinker_value row[] = {number("row", 0), text("code", "E443"), text("column", "a"), text("category", "a_bad_day")};
    struct clinker_value map = many("", MAP, row, is(writer, "refusal_category") ? 4 : 3), refused[] = {map, map};
    struct clinker_value items[] = {many("refused", LIST, refused, 2)};
    if (is(writer, "refused_twice") || is(writer, "refusal_category")) out->reply.value = many("", MAP, items, 1);
    return is(writer, "rows_end") ? CLINKER_STATUS_END : CLINKER_STATUS_OK;
}

static uint32_t writer_records(void *writer, const struct clinker_call *call, const struct clinker_encoded *records, struct clinker_reply *reply) {
    if (is(writer, "write_nowhere")) return call->write(call->context, NULL, 5);
    uint32_t status = call->write(call->context, records->bytes.data, records->bytes.len);
    /* What failed is said to be bad data. */
    if (is(writer, "failure_as_fault") && status != CLINKER_STATUS_OK) return fault(reply, "E443");
    return is(writer, "failure_as_done") ? CLINKER_STATUS_OK : status;
}

static uint32_t writer_finish(void *writer, const struct clinker_call *call, struct clinker_reply *reply) {
    (void)call, (void)reply;
    return is(writer, "host_invented_again") ? CLINKER_STATUS_HOST : CLINKER_STATUS_OK;
}

/* ---- the table ---- */

#if LOAD == 1 /* NO_ENTRY, which the preprocessor does not know */
#define clinker_plugin something_else
#endif

const struct clinker_table clinker_plugin = {
    .magic = LOAD == WRONG_MAGIC ? 1 : CLINKER_MAGIC,
    .major = LOAD == OTHER_MAJOR ? 9 : CLINKER_MAJOR,
    .minor = CLINKER_MINOR,
    .size = LOAD == SMALL_TABLE ? 24 : sizeof(struct clinker_table),
    .load = load,
    .bind_reader = bind_reader,
    .reader_free = free_way,
    .open = open_file,
    .cut = cut,
    .cutter_free = free_way,
    .decode = LOAD == NO_DECODE ? NULL : decode,
    .row_text = row_text,
    .decoder_free = free_decoder,
    .bind_writer = bind_writer,
    .output_free = free_way,
    .writer_open = writer_open,
    .writer_columns = writer_columns,
    .writer_rows = writer_rows,
    .writer_records = writer_records,
    .writer_finish = writer_finish,
    .writer_free = free_way,
};
