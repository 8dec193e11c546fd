// A TOML document as a flat list, read by toml++. Any thread may call any of these; one document belongs to one thread at
// a time. Nothing throws.
#ifndef FC_TOML_H
#define FC_TOML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fc_toml fc_toml;

typedef enum {
	FC_TOML_TABLE = 0,
	FC_TOML_ARRAY = 1,
	FC_TOML_STRING = 2,
	FC_TOML_INTEGER = 3,
	FC_TOML_FLOAT = 4,
	FC_TOML_BOOLEAN = 5,
	/// A date, a time or both.
	FC_TOML_DATE_TIME = 6
} fc_toml_type;

/// One node. Parents come before their children; texts belong to the document and needn't end in 0.
typedef struct {
	fc_toml_type type;
	/// Index of the table or array that holds it; -1: the document's root table.
	int32_t parent;
	/// The key in a table; length 0 in an array.
	const char *_Nonnull key;
	size_t key_length;
	/// The value of a string; else length 0.
	const char *_Nonnull text;
	size_t text_length;
	/// The value of an integer, or 0 and 1 for a boolean.
	int64_t integer;
	/// The value of a float.
	double real;
	/// Where the key stands (in an array: the value); lines and columns count from 1, 0 where unknown.
	uint32_t key_line;
	uint32_t key_column;
	uint32_t line;
	uint32_t column;
} fc_toml_node;

/// The most bytes a document may have, the most bytes a line may have, and how deep tables and arrays may nest: bounds of
/// the stack that a hostile document can use.
#define FC_TOML_MAXIMUM_BYTES (256 * 1024)
#define FC_TOML_MAXIMUM_LINE 2048
#define FC_TOML_MAXIMUM_DEPTH 16

/// Reads a document (NULL only with length 0). 0, or -EINVAL (see `fc_toml_problem`), -E2BIG (too long), -ENOMEM. In all cases but -ENOMEM
/// `*document` is the caller's, to be ended with `fc_toml_free`.
int fc_toml_read(const char *_Nullable bytes, size_t length, fc_toml *_Nullable *_Nonnull document);
size_t fc_toml_count(const fc_toml *_Nonnull document);
/// The node at an index below the count; valid until `fc_toml_free`.
const fc_toml_node *_Nonnull fc_toml_at(const fc_toml *_Nonnull document, size_t index);
/// What is wrong with the document, in words, and where. Valid until `fc_toml_free`.
const char *_Nonnull fc_toml_problem(const fc_toml *_Nonnull document, uint32_t *_Nonnull line,
				     uint32_t *_Nonnull column);
void fc_toml_free(fc_toml *_Nullable document);

#ifdef __cplusplus
}
#endif
#endif
