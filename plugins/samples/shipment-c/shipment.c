/* Shipping notices, one a line, between a header and a trailer that counts them:
 *
 *     HDR|B9
 *     SHP|S1|12.5
 *     TRL|1|B9
 *
 * Everything a function gives is released by the engine with the `release` that comes with it. Values are made in an
 * arena, so that one release frees them all. */
#include "clinker_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

struct arena {
    struct arena *next;
    _Alignas(16) char data[];
};

/* Memory that is released with the arena; without memory there is nothing left to do. */
static void *grab(struct arena **arena, size_t size) {
    struct arena *piece = malloc(sizeof *piece + size + 1);
    if (!piece) abort();
    piece->next = *arena;
    *arena = piece;
    return piece->data;
}

static void release_arena(void *owner) {
    struct arena *piece = owner;
    while (piece) {
        struct arena *next = piece->next;
        free(piece);
        piece = next;
    }
}

static struct clinker_str str(const char *text) {
    struct clinker_str out = {(const uint8_t *)text, strlen(text)};
    return out;
}

static struct clinker_str copy(struct arena **arena, const char *text, size_t len) {
    char *kept = grab(arena, len);
    memcpy(kept, text, len);
    struct clinker_str out = {(const uint8_t *)kept, len};
    return out;
}

static struct clinker_value text(const char *name, struct clinker_str said) {
    struct clinker_value out = {.name = str(name), .kind = CLINKER_KIND_TEXT, .text = said};
    return out;
}

static struct clinker_value number(const char *name, uint64_t value, uint32_t kind) {
    struct clinker_value out = {.name = str(name), .kind = kind, .number = value};
    return out;
}

/* A map or a list of copies of these values. */
static struct clinker_value many(struct arena **arena, const char *name, uint32_t kind,
                                 const struct clinker_value *items, size_t count) {
    struct clinker_value *kept = grab(arena, count * sizeof *kept);
    memcpy(kept, items, count * sizeof *kept);
    struct clinker_value out = {.name = str(name), .kind = kind, .items = kept, .count = count};
    return out;
}

static void give(struct clinker_reply *reply, struct arena *arena, struct clinker_value value) {
    reply->value = value;
    reply->owner = arena;
    reply->release = release_arena;
}

#define MAP CLINKER_KIND_MAP
#define LIST CLINKER_KIND_LIST
#define COUNT(items) (sizeof(items) / sizeof *(items))

static uint32_t fault(struct clinker_reply *reply, const char *kind, const char *code, uint64_t line, uint64_t offset,
                      const char *reason) {
    struct arena *arena = NULL;
    struct clinker_value items[] = {
        text("kind", str(kind)),
        text("code", str(code)),
        number("line", line, CLINKER_KIND_NUMBER),
        number("offset", offset, CLINKER_KIND_NUMBER),
        text("reason", copy(&arena, reason, strlen(reason))),
    };
    struct clinker_value map = many(&arena, "", MAP, items, COUNT(items));
    give(reply, arena, map);
    return CLINKER_STATUS_FAULT;
}

/* ---- registration ---- */

static uint32_t load(struct clinker_reply *reply) {
    struct arena *arena = NULL;
    struct clinker_value tags[] = {text("", str("HDR"))};
    struct clinker_value extract[] = {text("kind", str("segment")), many(&arena, "tags", LIST, tags, 1)};
    struct clinker_value read[] = {many(&arena, "extract", MAP, extract, COUNT(extract))};
    struct clinker_value can[] = {text("", str("one_envelope"))};
    struct clinker_value write[] = {many(&arena, "capabilities", LIST, can, 1), text("no_split", str("E338"))};
    struct clinker_value code[] = {
        text("code", str("E-SHIPMENT_C-001")),
        text("title", str("Wrong count")),
        text("meaning", str("The trailer declares another number of shipments than the file has.")),
        text("remedy", str("Have the file sent again.")),
        text("class", str("document")),
        text("machine", str("source.data.invalid")),
    };
    struct clinker_value codes[] = {many(&arena, "", MAP, code, COUNT(code))};
    struct clinker_value format[] = {
        text("name", str("shipment_c")),
        text("summary", str("Shipping notices, read and written in C.")),
        many(&arena, "read", MAP, read, COUNT(read)),
        many(&arena, "write", MAP, write, COUNT(write)),
        many(&arena, "codes", LIST, codes, 1),
    };
    struct clinker_value formats[] = {many(&arena, "", MAP, format, COUNT(format))};
    struct clinker_value list = many(&arena, "", LIST, formats, 1);
    give(reply, arena, list);
    return CLINKER_STATUS_OK;
}

/* ---- reading ---- */

/* Whether bytes are UTF-8 (Unicode 3.9, table 3-7). */
static int is_text(const uint8_t *bytes, size_t len) {
    for (size_t at = 0; at < len;) {
        uint8_t first = bytes[at++];
        if (first < 0x80) continue;
        size_t more = first >= 0xC2 && first <= 0xDF ? 1 : first >= 0xE0 && first <= 0xEF ? 2 : first >= 0xF0 && first <= 0xF4 ? 3 : 0;
        if (!more || len - at < more) return 0;
        uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80, high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (bytes[at] < low || bytes[at] > high) return 0;
        for (size_t next = 1; next < more; next++)
            if (bytes[at + next] < 0x80 || bytes[at + next] > 0xBF) return 0;
        at += more;
    }
    return 1;
}

static uint32_t bind_reader(uint32_t format, const struct clinker_value *request, void **reader,
                            struct clinker_reply *reply) {
    (void)format, (void)request;
    struct arena *arena = NULL;
    struct clinker_value level[] = {text("name", str("batch")), number("file", 1, CLINKER_KIND_BOOL)};
    struct clinker_value levels[] = {many(&arena, "", MAP, level, COUNT(level))};
    struct clinker_value items[] = {many(&arena, "levels", LIST, levels, 1), text("vocabulary", str("open"))};
    struct clinker_value map = many(&arena, "", MAP, items, COUNT(items));
    give(reply, arena, map);
    static char bound;
    *reader = &bound;
    return CLINKER_STATUS_OK;
}

static void free_nothing(void *handle) { (void)handle; }

struct cutter {
    char batch[128];
    uint64_t line, count;
    int opened, closed;
};

#define LONGEST_LINE ((size_t)64 << 10)

/* The line that begins at `from`; `window` grows as far as it takes. 1: a line, 0: the end of the file, -1: a failure,
 * -2: too long. */
static int next_line(const struct clinker_call *call, struct clinker_window *window, size_t from, size_t *text_len,
                     size_t *whole) {
    for (;;) {
        const uint8_t *start = window->bytes.data + from;
        size_t held = window->bytes.len - from;
        const uint8_t *end = held ? memchr(start, '\n', held) : NULL;
        if (end) {
            *text_len = (size_t)(end - start);
            *whole = *text_len + 1;
            return 1;
        }
        if (held > LONGEST_LINE) return -2;
        uint32_t status = window->ended ? CLINKER_STATUS_END : call->more(call->context, 64 << 10, window);
        if (status == CLINKER_STATUS_END) {
            *text_len = *whole = held;
            return held > 0;
        }
        if (status != CLINKER_STATUS_OK) return -1;
    }
}

static uint32_t open_file(void *reader, const struct clinker_call *call, const struct clinker_value *file,
                          const struct clinker_window *given, struct clinker_opened *opened) {
    (void)reader, (void)file;
    struct clinker_window window = *given;
    size_t len = 0, whole = 0;
    int found = next_line(call, &window, 0, &len, &whole);
    if (found == -1) return CLINKER_STATUS_HOST;
    if (found == 0) return fault(&opened->reply, "corruption", "E421", 1, 0, "the file is empty");
    if (found == -2 || len < 4 || memcmp(window.bytes.data, "HDR|", 4) || len - 4 >= sizeof((struct cutter *)0)->batch)
        return fault(&opened->reply, "corruption", "E422", 1, 0, "the first line is no header: `HDR|` was expected");
    if (!is_text(window.bytes.data, len))
        return fault(&opened->reply, "corruption", "E420", 1, 0, "the header is not valid UTF-8");
    struct cutter *cutter = calloc(1, sizeof *cutter);
    if (!cutter) abort();
    memcpy(cutter->batch, window.bytes.data + 4, len - 4);
    cutter->line = 2;
    opened->cutter = cutter;
    static char decoder;
    opened->decoder = &decoder;
    opened->consumed = whole;
    struct arena *arena = NULL;
    struct clinker_value columns[] = {text("", str("id")), text("", str("weight"))};
    struct clinker_value items[] = {many(&arena, "columns", LIST, columns, COUNT(columns))};
    struct clinker_value map = many(&arena, "", MAP, items, COUNT(items));
    give(&opened->reply, arena, map);
    return CLINKER_STATUS_OK;
}

/* A mark in front of the first row: the level opens, with its batch, or closes. */
static void mark(struct clinker_cut *out, const struct cutter *opens) {
    struct arena *arena = NULL;
    struct clinker_value items[2] = {number("row", 0, CLINKER_KIND_NUMBER)};
    size_t count = 1;
    if (opens) {
        struct clinker_value field[] = {text("name", str("batch")),
                                        text("value", copy(&arena, opens->batch, strlen(opens->batch)))};
        struct clinker_value fields[] = {many(&arena, "", MAP, field, COUNT(field))};
        struct clinker_value open[] = {number("level", 0, CLINKER_KIND_NUMBER), number("line", 1, CLINKER_KIND_NUMBER),
                                       number("offset", 0, CLINKER_KIND_NUMBER), many(&arena, "fields", LIST, fields, 1)};
        items[count++] = many(&arena, "open", MAP, open, COUNT(open));
    }
    struct clinker_value marks[] = {many(&arena, "", MAP, items, count)};
    struct clinker_value reply[] = {many(&arena, "marks", LIST, marks, 1)};
    struct clinker_value map = many(&arena, "", MAP, reply, 1);
    give(&out->reply, arena, map);
}

/* Checks the trailer, which is next in the window. */
static uint32_t trailer(struct cutter *cutter, const struct clinker_call *call, struct clinker_window *window,
                        struct clinker_cut *out) {
    size_t len = 0, whole = 0;
    int found = next_line(call, window, 0, &len, &whole);
    if (found == -1) return CLINKER_STATUS_HOST;
    if (found == 0)
        return fault(&out->reply, "corruption", "E421", cutter->line, window->offset, "the file ends without a trailer");
    char line[256] = "", batch[128] = "", said[320];
    unsigned long long declared = 0;
    if (len < sizeof line) memcpy(line, window->bytes.data, len);
    out->consumed = whole;
    uint64_t at = cutter->line++;
    cutter->closed = 1;
    if (!is_text(window->bytes.data, len))
        return fault(&out->reply, "corruption", "E420", at, window->offset, "the trailer is not valid UTF-8");
    int read = sscanf(line, "TRL|%20llu|%127[^|]", &declared, batch);
    if (read < 1) return fault(&out->reply, "corruption", "E422", at, window->offset, "the count of the trailer is no number");
    if (declared != cutter->count) {
        snprintf(said, sizeof said, "the trailer declares %llu shipments, counted %llu", declared,
                 (unsigned long long)cutter->count);
        return fault(&out->reply, "violation", "E-SHIPMENT_C-001", at, window->offset, said);
    }
    if (strcmp(batch, cutter->batch)) {
        snprintf(said, sizeof said, "the trailer says batch `%s`, the header `%s`", batch, cutter->batch);
        return fault(&out->reply, "corruption", "E424", at, window->offset, said);
    }
    mark(out, NULL);
    return CLINKER_STATUS_OK;
}

static uint32_t cut(void *handle, const struct clinker_call *call, const struct clinker_window *given,
                    struct clinker_bound bound, struct clinker_cut *out) {
    struct cutter *cutter = handle;
    struct clinker_window window = *given;
    out->first_line = cutter->line;
    while (out->rows < bound.rows && (out->rows == 0 || out->len < bound.bytes)) {
        size_t len = 0, whole = 0;
        int found = next_line(call, &window, (size_t)out->len, &len, &whole);
        if (found == -1) return CLINKER_STATUS_HOST;
        if (found == 0) break;
        uint64_t offset = window.offset + out->len;
        if (found == -2) return fault(&out->reply, "corruption", "E426", cutter->line, offset, "a line is longer than 65536 bytes");
        if (cutter->closed) return fault(&out->reply, "corruption", "E425", cutter->line, offset, "something stands behind the trailer");
        if (len >= 4 && !memcmp(window.bytes.data + out->len, "TRL|", 4)) break;
        out->len += whole;
        out->rows++;
        cutter->line++;
    }
    cutter->count += out->rows;
    out->consumed = out->len;
    if (!cutter->opened) {
        cutter->opened = 1;
        mark(out, cutter);
        return CLINKER_STATUS_OK;
    }
    if (out->rows) return CLINKER_STATUS_OK;
    if (cutter->closed) return CLINKER_STATUS_END;
    return trailer(cutter, call, &window, out);
}

/* ---- columns ---- */

struct column {
    int32_t *offsets;
    char *data;
    const void *buffers[3];
};

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t at = 0; at < schema->n_children; at++) {
        if (schema->children[at]->release) schema->children[at]->release(schema->children[at]);
        free(schema->children[at]);
    }
    free(schema->children);
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t at = 0; at < array->n_children; at++) {
        if (array->children[at]->release) array->children[at]->release(array->children[at]);
        free(array->children[at]);
    }
    free(array->children);
    struct column *column = array->private_data;
    if (column) {
        free(column->offsets);
        free(column->data);
        free(column);
    }
    array->release = NULL;
}

/* A struct of `count` columns of `rows` rows each; its columns are filled by the caller. */
static void batch(struct ArrowSchema *schema, struct ArrowArray *array, size_t count, int64_t rows) {
    static const void *no_nulls[1] = {NULL};
    memset(schema, 0, sizeof *schema);
    memset(array, 0, sizeof *array);
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .n_children = (int64_t)count,
                                   .children = calloc(count + 1, sizeof(void *)), .release = release_schema};
    *array = (struct ArrowArray){.length = rows, .n_buffers = 1, .buffers = (const void **)no_nulls,
                                 .n_children = (int64_t)count, .children = calloc(count + 1, sizeof(void *)),
                                 .release = release_array};
    if (!schema->children || !array->children) abort();
    for (size_t at = 0; at < count; at++) {
        schema->children[at] = calloc(1, sizeof *schema);
        array->children[at] = calloc(1, sizeof *array);
        if (!schema->children[at] || !array->children[at]) abort();
    }
}

static void fill(struct ArrowSchema *schema, struct ArrowArray *array, size_t at, const char *name, const char *format,
                 int64_t rows, struct column *column, int64_t buffers) {
    *schema->children[at] = (struct ArrowSchema){.format = format, .name = name, .release = release_schema};
    *array->children[at] = (struct ArrowArray){.length = rows, .n_buffers = buffers, .buffers = column->buffers,
                                               .private_data = column, .release = release_array};
}

/* A column of text with room for `rows` cells of `bytes` bytes together. */
static struct column *new_column(int64_t rows, size_t bytes) {
    struct column *column = calloc(1, sizeof *column);
    if (!column) abort();
    column->offsets = calloc((size_t)rows + 1, sizeof *column->offsets);
    column->data = malloc(bytes + 1);
    if (!column->offsets || !column->data) abort();
    column->buffers[1] = column->offsets;
    column->buffers[2] = column->data;
    return column;
}

static void append(struct column *column, int64_t row, const void *text, size_t len) {
    memcpy(column->data + column->offsets[row], text, len);
    column->offsets[row + 1] = column->offsets[row] + (int32_t)len;
}

/* A column of numbers of `size` bytes. */
static struct column *numbers(int64_t rows, size_t size) {
    struct column *column = new_column(0, (size_t)rows * size);
    column->buffers[1] = column->data;
    return column;
}

/* A line as text, and its length. Of one that is none each byte that ASCII does not have is written as `\xNN`. */
static size_t raw_text(char *out, const uint8_t *line, size_t len) {
    if (is_text(line, len)) {
        memcpy(out, line, len);
        return len;
    }
    size_t made = 0;
    for (size_t at = 0; at < len; at++) {
        if (line[at] < 0x80) out[made++] = (char)line[at];
        else made += (size_t)sprintf(out + made, "\\x%02X", line[at]);
    }
    return made;
}

/* The fields of a line: whether it is `SHP|id|weight`. */
static int split(const uint8_t *line, size_t len, const uint8_t **id, size_t *id_len, const uint8_t **weight,
                 size_t *weight_len) {
    if (len < 4 || memcmp(line, "SHP|", 4) || !is_text(line, len)) return 0;
    *id = line + 4;
    const uint8_t *bar = memchr(*id, '|', len - 4);
    if (!bar) return 0;
    *id_len = (size_t)(bar - *id);
    *weight = bar + 1;
    *weight_len = len - (size_t)(*weight - line);
    return !memchr(*weight, '|', *weight_len);
}

static uint32_t decode(void *decoder, const struct clinker_call *call, const struct clinker_block *block,
                       const uint64_t *wanted, size_t count, struct clinker_decoded *out) {
    (void)decoder, (void)call;
    int64_t rows = (int64_t)block->rows, good = 0, bad = 0;
    struct column *cells[2] = {new_column(rows, block->data.len), new_column(rows, block->data.len)};
    struct column *row = numbers(rows, 4), *line = numbers(rows, 8), *offset = numbers(rows, 8);
    struct column *code = new_column(rows, (size_t)rows * 4), *raw = new_column(rows, block->data.len * 4);
    const char *said = "a shipment is `SHP|id|weight`";
    struct column *reason = new_column(rows, (size_t)rows * strlen(said));
    const uint8_t *at = block->data.data, *end = at + block->data.len;
    for (int64_t number = 0; number < rows && at < end; number++) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);
        const uint8_t *id = NULL, *weight = NULL;
        size_t id_len = 0, weight_len = 0;
        if (split(at, len, &id, &id_len, &weight, &weight_len)) {
            append(cells[0], good, id, id_len);
            append(cells[1], good++, weight, weight_len);
        } else {
            ((uint32_t *)row->data)[bad] = (uint32_t)number;
            ((uint64_t *)line->data)[bad] = block->first_line + (uint64_t)number;
            ((uint64_t *)offset->data)[bad] = block->offset + (uint64_t)(at - block->data.data);
            append(code, bad, "E423", 4);
            append(reason, bad, said, strlen(said));
            raw->offsets[bad + 1] = raw->offsets[bad] + (int32_t)raw_text(raw->data + raw->offsets[bad], at, len);
            bad++;
        }
        at += len + (stop != NULL);
    }
    batch(&out->schema, &out->array, count, good);
    for (size_t column = 0; column < count; column++) {
        struct column *from = cells[wanted[column] & 1], *to = new_column(good, (size_t)from->offsets[good]);
        memcpy(to->offsets, from->offsets, ((size_t)good + 1) * sizeof *to->offsets);
        memcpy(to->data, from->data, (size_t)from->offsets[good]);
        fill(&out->schema, &out->array, column, wanted[column] & 1 ? "weight" : "id", "u", good, to, 3);
    }
    struct column *parts[] = {row, line, offset, code, reason, raw};
    if (bad) {
        static const char *names[] = {"row", "line", "offset", "code", "reason", "raw"};
        static const char *formats[] = {"I", "L", "L", "u", "u", "u"};
        batch(&out->rejected_schema, &out->rejected, COUNT(parts), bad);
        for (size_t part = 0; part < COUNT(parts); part++)
            fill(&out->rejected_schema, &out->rejected, part, names[part], formats[part], bad, parts[part], part < 3 ? 2 : 3);
    }
    for (size_t part = 0; part < 2 + (bad ? 0 : COUNT(parts)); part++) {
        struct column *unused = part < 2 ? cells[part] : parts[part - 2];
        free(unused->offsets);
        free(unused->data);
        free(unused);
    }
    return CLINKER_STATUS_OK;
}

static uint32_t row_text(void *decoder, const struct clinker_block *block, uint64_t row, struct clinker_reply *reply) {
    (void)decoder;
    const uint8_t *at = block->data.data, *end = at + block->data.len;
    for (uint64_t skip = 0; skip < row && at < end; skip++) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    const uint8_t *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    struct arena *arena = NULL;
    size_t len = (size_t)((stop ? stop : end) - at);
    char *shown = grab(&arena, len * 4);
    struct clinker_str raw = {(const uint8_t *)shown, raw_text(shown, at, len)};
    struct clinker_value items[] = {
        number("line", block->first_line + row, CLINKER_KIND_NUMBER),
        number("offset", block->offset + (uint64_t)(at - block->data.data), CLINKER_KIND_NUMBER),
        text("raw", raw),
    };
    struct clinker_value map = many(&arena, "", MAP, items, COUNT(items));
    give(reply, arena, map);
    return CLINKER_STATUS_OK;
}

/* ---- writing ---- */

struct writer {
    char batch[128];
    uint64_t count;
    int opened;
};

static uint32_t bind_writer(uint32_t format, const struct clinker_value *request, void **output,
                            struct clinker_reply *reply) {
    (void)format, (void)request;
    static char bound;
    *output = &bound;
    struct arena *arena = NULL;
    struct clinker_value map = many(&arena, "", MAP, NULL, 0);
    give(reply, arena, map);
    return CLINKER_STATUS_OK;
}

static uint32_t writer_open(void *output, const struct clinker_value *request, void **writer, struct clinker_reply *reply) {
    (void)output, (void)request, (void)reply;
    *writer = calloc(1, sizeof(struct writer));
    return *writer ? CLINKER_STATUS_OK : CLINKER_STATUS_ERROR;
}

static uint32_t writer_columns(void *writer, const struct clinker_call *call, struct clinker_strs names,
                               struct clinker_reply *reply) {
    (void)writer, (void)call, (void)names, (void)reply;
    return CLINKER_STATUS_OK;
}

static const struct clinker_value *entry(const struct clinker_value *map, const char *name) {
    for (size_t at = 0; map && at < map->count; at++)
        if (map->items[at].name.len == strlen(name) && !memcmp(map->items[at].name.data, name, strlen(name)))
            return &map->items[at];
    return NULL;
}

/* The batch of the first level that has one. */
static void find_batch(struct writer *writer, const struct clinker_value *levels) {
    const struct clinker_value *all = entry(levels, "levels");
    for (size_t level = 0; all && level < all->count; level++) {
        const struct clinker_value *sections = entry(&all->items[level], "sections");
        for (size_t section = 0; sections && section < sections->count; section++) {
            const struct clinker_value *fields = entry(&sections->items[section], "fields");
            for (size_t field = 0; fields && field < fields->count; field++) {
                const struct clinker_value *name = entry(&fields->items[field], "name");
                const struct clinker_value *value = entry(&fields->items[field], "value");
                if (!name || !value || name->text.len != 5 || memcmp(name->text.data, "batch", 5)) continue;
                size_t len = value->text.len < sizeof writer->batch ? value->text.len : sizeof writer->batch - 1;
                memcpy(writer->batch, value->text.data, len);
                return;
            }
        }
    }
}

/* The cell of a column of plain text. */
static const char *cell(const struct clinker_rows *rows, const char *name, uint64_t row, int *len) {
    for (int64_t at = 0; at < rows->schema->n_children; at++) {
        const struct ArrowArray *array = rows->array->children[at];
        if (strcmp(rows->schema->children[at]->name, name) || array->n_buffers != 3) continue;
        const int32_t *offsets = (const int32_t *)array->buffers[1] + array->offset + row;
        *len = offsets[1] - offsets[0];
        return (const char *)array->buffers[2] + offsets[0];
    }
    *len = 0;
    return "";
}

struct lines {
    char *bytes;
    uint32_t *ends;
};

static void release_lines(void *owner) {
    struct lines *lines = owner;
    free(lines->bytes);
    free(lines->ends);
    free(lines);
}

static uint32_t writer_rows(void *handle, const struct clinker_call *call, const struct clinker_rows *rows,
                            struct clinker_encoded *out) {
    (void)call;
    struct writer *writer = handle;
    struct lines *lines = calloc(1, sizeof *lines);
    size_t room = 256;
    int id_len = 0, weight_len = 0;
    for (uint64_t row = 0; row < rows->rows; row++) {
        cell(rows, "id", row, &id_len);
        cell(rows, "weight", row, &weight_len);
        room += (size_t)id_len + (size_t)weight_len + 8;
    }
    if (!lines || !(lines->bytes = malloc(room)) || !(lines->ends = malloc(((size_t)rows->rows + 1) * 4))) abort();
    size_t len = 0;
    if (!writer->opened && rows->rows) {
        writer->opened = 1;
        find_batch(writer, rows->levels);
        len += (size_t)snprintf(lines->bytes, room, "HDR|%s\n", writer->batch);
    }
    for (uint64_t row = 0; row < rows->rows; row++) {
        const char *id = cell(rows, "id", row, &id_len), *weight = cell(rows, "weight", row, &weight_len);
        len += (size_t)snprintf(lines->bytes + len, room - len, "SHP|%.*s|%.*s\n", id_len, id, weight_len, weight);
        lines->ends[row] = (uint32_t)len;
    }
    writer->count += rows->rows;
    out->bytes = (struct clinker_str){(const uint8_t *)lines->bytes, len};
    out->ends = lines->ends;
    out->count = (size_t)rows->rows;
    out->owner = lines;
    out->release = release_lines;
    return CLINKER_STATUS_OK;
}

static uint32_t writer_records(void *writer, const struct clinker_call *call, const struct clinker_encoded *records,
                               struct clinker_reply *reply) {
    (void)writer, (void)reply;
    return call->write(call->context, records->bytes.data, records->bytes.len);
}

static uint32_t writer_finish(void *handle, const struct clinker_call *call, struct clinker_reply *reply) {
    (void)reply;
    struct writer *writer = handle;
    char line[192];
    if (!writer->opened) return CLINKER_STATUS_OK;
    int len = snprintf(line, sizeof line, "TRL|%llu|%s\n", (unsigned long long)writer->count, writer->batch);
    return call->write(call->context, (const uint8_t *)line, (size_t)len);
}

/* ---- the table ---- */

#define TEXT(words) {(const uint8_t *)words, sizeof words - 1}

const struct clinker_table clinker_plugin = {
    .magic = CLINKER_MAGIC,
    .major = CLINKER_MAJOR,
    .minor = CLINKER_MINOR,
    .size = sizeof(struct clinker_table),
    .version = TEXT("0.1.0"),
    .load = load,
    .bind_reader = bind_reader,
    .reader_free = free_nothing,
    .open = open_file,
    .cut = cut,
    .cutter_free = free,
    .decode = decode,
    .row_text = row_text,
    .context_free = free_nothing,
    .decoder_free = free_nothing,
    .bind_writer = bind_writer,
    .output_free = free_nothing,
    .writer_open = writer_open,
    .writer_columns = writer_columns,
    .writer_rows = writer_rows,
    .writer_records = writer_records,
    .writer_finish = writer_finish,
    .writer_free = free,
};
