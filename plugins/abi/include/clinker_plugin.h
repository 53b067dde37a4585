/* The boundary between clinker and format plugins. Made from the boundary types: do not edit.
 *
 * A plugin exports one constant, `const struct clinker_table clinker_plugin`. */
#ifndef CLINKER_PLUGIN_H
#define CLINKER_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first eight bytes of a table, and the interface that it is made for. */
#define CLINKER_MAGIC UINT64_C(0x47554C504B4E4C43)
#define CLINKER_MAJOR 0u
#define CLINKER_MINOR 1u

/* The call did what it was asked. */
#define CLINKER_STATUS_OK 0u
/* There is nothing more: the end of the file, all of whose bytes were consumed. */
#define CLINKER_STATUS_END 1u
/* What was asked cannot be done for a reason that lies in the data or in the options: the reply says which. */
#define CLINKER_STATUS_FAULT 2u
/* A function of the engine failed, and this call can do nothing about it. */
#define CLINKER_STATUS_HOST 3u
/* A panic was caught: the reply is its text. */
#define CLINKER_STATUS_PANIC 4u
/* The call failed for a reason of the plugin's own: the reply is its text. */
#define CLINKER_STATUS_ERROR 5u
/* No value. */
#define CLINKER_KIND_NULL 0u
/* `number` is 0 or 1. */
#define CLINKER_KIND_BOOL 1u
/* `number` is an unsigned number. */
#define CLINKER_KIND_NUMBER 2u
/* `number` is a signed number in two's complement. */
#define CLINKER_KIND_INTEGER 3u
/* `number` has the bits of a binary64. */
#define CLINKER_KIND_FLOAT 4u
/* `text` is UTF-8. */
#define CLINKER_KIND_TEXT 5u
/* `text` is any bytes. */
#define CLINKER_KIND_BYTES 6u
/* `items` are the elements; their names are empty. */
#define CLINKER_KIND_LIST 7u
/* `items` are the entries, each with its name. */
#define CLINKER_KIND_MAP 8u

struct clinker_str;
struct clinker_strs;
struct clinker_value;
struct clinker_reply;
struct clinker_bytes;
struct clinker_window;
struct clinker_call;
struct clinker_bound;
struct clinker_cut;
struct clinker_block;
struct clinker_decoded;
struct clinker_rows;
struct clinker_encoded;
struct ArrowSchema;
struct ArrowArray;
struct clinker_table;
struct clinker_opened;

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

struct ArrowSchema {
    /* Type, as a format string. */
    const char *format;
    /* Name of the field. */
    const char *name;
    /* Metadata. */
    const char *metadata;
    /* Flags. */
    int64_t flags;
    /* Number of children. */
    int64_t n_children;
    /* The children. */
    struct ArrowSchema **children;
    /* Dictionary. */
    struct ArrowSchema *dictionary;
    /* Releases it. */
    void (*release)(struct ArrowSchema *schema);
    /* For the producer. */
    void *private_data;
};

struct ArrowArray {
    /* Number of rows. */
    int64_t length;
    /* Number of nulls, -1 when it was not counted. */
    int64_t null_count;
    /* Rows in front of the first one. */
    int64_t offset;
    /* Number of buffers. */
    int64_t n_buffers;
    /* Number of children. */
    int64_t n_children;
    /* The buffers. */
    const void **buffers;
    /* The children. */
    struct ArrowArray **children;
    /* Dictionary. */
    struct ArrowArray *dictionary;
    /* Releases it. */
    void (*release)(struct ArrowArray *array);
    /* For the producer. */
    void *private_data;
};

#endif

struct clinker_str {
    /* The first byte. */
    const uint8_t *data;
    /* Number of bytes. */
    size_t len;
};

struct clinker_strs {
    /* The first text. */
    const struct clinker_str *items;
    /* Number of texts. */
    size_t count;
};

struct clinker_value {
    /* Its name in a map; empty in a list. */
    struct clinker_str name;
    /* One of the `KIND_` constants. */
    uint32_t kind;
    /* 0. */
    uint32_t reserved;
    /* The value of numbers and truth values. */
    uint64_t number;
    /* The value of texts and bytes. */
    struct clinker_str text;
    /* The elements of a list or a map. */
    const struct clinker_value *items;
    /* Number of elements. */
    size_t count;
};

struct clinker_reply {
    /* The value. */
    struct clinker_value value;
    /* Given to `release`. */
    void *owner;
    /* Called once by the engine, after it copied the value; null when there is nothing to release. */
    void (*release)(void *owner);
};

struct clinker_bytes {
    /* The first byte. */
    const uint8_t *data;
    /* Number of bytes. */
    size_t len;
    /* Given to the functions. */
    void *owner;
    /* Keeps the bytes until one more `release`. Callable on any thread. */
    void (*retain)(void *owner);
    /* Gives up what `retain` kept. Callable on any thread. */
    void (*release)(void *owner);
};

struct clinker_window {
    /* The bytes, from the first one that was not consumed by an earlier call. */
    struct clinker_bytes bytes;
    /* Offset in the file of the first byte. */
    uint64_t offset;
    /* 1 when the file ends behind the last byte. */
    uint32_t ended;
    /* 0. */
    uint32_t reserved;
};

struct clinker_call {
    /* Size of this structure as the engine knows it; functions past it are absent. */
    size_t size;
    /* Given to the functions. */
    void *context;
    /* Reads at most `limit` bytes behind the window and gives the longer window, whose first byte is the same.
     * `STATUS_END` when there is no more; `STATUS_HOST` when reading failed. */
    uint32_t (*more)(void *context, size_t limit, struct clinker_window *window);
    /* Fills `into` from the file that was written; `read` is the number of bytes, 0 at its end. */
    uint32_t (*read)(void *context, uint8_t *into, size_t len, size_t *read);
    /* Writes to the output. */
    uint32_t (*write)(void *context, const uint8_t *data, size_t len);
    /* 1 when the run was cancelled: the call should give up with `STATUS_HOST`. */
    uint32_t (*cancelled)(void *context);
};

struct clinker_bound {
    /* At most this many rows. */
    uint64_t rows;
    /* No further record is added once the block has this many bytes. */
    uint64_t bytes;
};

struct clinker_cut {
    /* Where the block begins in the window. */
    uint64_t start;
    /* Bytes of the block. */
    uint64_t len;
    /* Bytes of the window that are done with, those of the block included. They are not given again. Counts under every
     * status but `STATUS_PANIC`. */
    uint64_t consumed;
    /* Rows of the block. */
    uint64_t rows;
    /* 1-based physical line on which the block begins. */
    uint64_t first_line;
    /* What the decoder must know beside the bytes; released with `context_free`. */
    void *context;
    /* A map: `marks` with `STATUS_OK`, `notes` with `STATUS_END`, the fault with `STATUS_FAULT`. */
    struct clinker_reply reply;
};

struct clinker_block {
    /* Its bytes. */
    struct clinker_bytes data;
    /* Its rows. */
    uint64_t rows;
    /* 1-based number in the file of its first row. */
    uint64_t first_row;
    /* 1-based physical line on which it begins. */
    uint64_t first_line;
    /* Offset in the file of its first byte. */
    uint64_t offset;
    /* What the cutter gave with it. */
    void *context;
};

struct clinker_decoded {
    /* A struct with one field a wanted column, then one for each field beyond them, under its name. Its length is the
     * number of accepted rows: the rows of the block in order, without the rejected ones. */
    struct ArrowSchema schema;
    /* Its columns: plain strings (`u`, `U`) or views (`vu`); null where a row lacks the cell. Data of views may lie in
     * the block. */
    struct ArrowArray array;
    /* A struct of the rejected rows, in order; `release` is null when there are none. Fields: `row` (`I`, position in
     * the block), `code`, `reason`, `raw` (strings), `line`, `offset` (`L`). */
    struct ArrowSchema rejected_schema;
    /* Its columns. */
    struct ArrowArray rejected;
    /* A map: `fault` behind these rows, `shapes` of the fields beyond the wanted columns. */
    struct clinker_reply reply;
};

struct clinker_rows {
    /* A struct with one field a column, under its output name. The callee may move it out; what it leaves is released
     * by the engine behind the call. */
    struct ArrowSchema *schema;
    /* Its columns: plain strings (`u`), or typed columns where the format asked for them. */
    struct ArrowArray *array;
    /* Number of rows. */
    uint64_t rows;
    /* The levels around the rows, a map; null where there are none. */
    const struct clinker_value *levels;
};

struct clinker_encoded {
    /* The records one after another. */
    struct clinker_str bytes;
    /* The end of each record in `bytes`. */
    const uint32_t *ends;
    /* Number of records. */
    size_t count;
    /* A map: `refused`, the rows that were not written. */
    struct clinker_reply reply;
    /* Given to `release`. */
    void *owner;
    /* Releases bytes and ends; null when there is nothing to release. */
    void (*release)(void *owner);
};

struct clinker_table {
    /* `CLINKER_MAGIC`. */
    uint64_t magic;
    /* `CLINKER_MAJOR`. */
    uint32_t major;
    /* `CLINKER_MINOR`. */
    uint32_t minor;
    /* Size of this structure as the plugin knows it. */
    size_t size;
    /* The plugin's own version. */
    struct clinker_str version;
    /* Capabilities that the engine must know. */
    struct clinker_strs requires;
    /* Capabilities that the engine may use. */
    struct clinker_strs offers;
    /* Version of the kit that described the boundary types; empty in C. */
    struct clinker_str layout_kit;
    /* The description of the boundary types; null in C. */
    const void *layout;
    /* Called once, first. The reply is a list of registrations, one map a format; with `STATUS_ERROR` a text. */
    uint32_t (*load)(struct clinker_reply *reply);
    /* Binds reader options of the format at a position in that list. The reply is a map (levels, generated columns);
     * with `STATUS_FAULT` a list of faults. */
    uint32_t (*bind_reader)(uint32_t format, const struct clinker_value *request, void **reader, struct clinker_reply *reply);
    /* Releases a reader. No file of it is open. */
    void (*reader_free)(void *reader);
    /* Opens a file. The reply is a map (columns); with `STATUS_FAULT` the fault. Called on several threads. */
    uint32_t (*open)(void *reader, const struct clinker_call *call, const struct clinker_value *file, const struct clinker_window *window, struct clinker_opened *opened);
    /* The next block of a file. Called by one thread at a time. */
    uint32_t (*cut)(void *cutter, const struct clinker_call *call, const struct clinker_window *window, struct clinker_bound bound, struct clinker_cut *out);
    /* Closes a file, at its end or earlier. */
    void (*cutter_free)(void *cutter);
    /* Decodes the columns at the positions `wanted`. Called on several threads, in any order. */
    uint32_t (*decode)(void *decoder, const struct clinker_call *call, const struct clinker_block *block, const uint64_t *wanted, size_t count, struct clinker_decoded *out);
    /* Place and text of a row of a block: a map (`line`, `offset`, `raw`). */
    uint32_t (*row_text)(void *decoder, const struct clinker_block *block, uint64_t row, struct clinker_reply *reply);
    /* Releases what a cutter gave with a block. */
    void (*context_free)(void *context);
    /* Releases a decoder, behind its last call. */
    void (*decoder_free)(void *decoder);
    /* Binds writer options. The reply is a map; with `STATUS_FAULT` a list of faults. */
    uint32_t (*bind_writer)(uint32_t format, const struct clinker_value *request, void **output, struct clinker_reply *reply);
    /* Releases an output, behind its last writer. */
    void (*output_free)(void *output);
    /* Makes the bytes of rows. Called on several threads, in any order. Null when no format has an encoder. */
    uint32_t (*encode)(void *output, const struct clinker_call *call, const struct clinker_rows *rows, struct clinker_encoded *out);
    /* Copies an output that was written (`read`) with further columns (`write`). Null when no format has a union of
     * columns. `request` is a map (`names`, `runs`, `header`). */
    uint32_t (*complete)(void *output, const struct clinker_call *call, const struct clinker_value *request, struct clinker_reply *reply);
    /* A writer of one file. `request` is a map (`header`). */
    uint32_t (*writer_open)(void *output, const struct clinker_value *request, void **writer, struct clinker_reply *reply);
    /* The column set, once, before any record. */
    uint32_t (*writer_columns)(void *writer, const struct clinker_call *call, struct clinker_strs names, struct clinker_reply *reply);
    /* Makes the bytes of rows in order; they come back with `writer_records`. Only without an encoder. */
    uint32_t (*writer_rows)(void *writer, const struct clinker_call *call, const struct clinker_rows *rows, struct clinker_encoded *out);
    /* Writes records. */
    uint32_t (*writer_records)(void *writer, const struct clinker_call *call, const struct clinker_encoded *records, struct clinker_reply *reply);
    /* Closes what is open, once, last. */
    uint32_t (*writer_finish)(void *writer, const struct clinker_call *call, struct clinker_reply *reply);
    /* Releases a writer; without `writer_finish` before it, the output is abandoned. */
    void (*writer_free)(void *writer);
};

struct clinker_opened {
    /* Cuts it. */
    void *cutter;
    /* Decodes its blocks, on several threads. */
    void *decoder;
    /* Bytes of the window that are done with. */
    uint64_t consumed;
    /* A map: `columns`, `named_by_file`, `header_line`, `header_offset`; with `STATUS_FAULT` the fault. */
    struct clinker_reply reply;
};

#ifdef __cplusplus
}
#endif

#endif
