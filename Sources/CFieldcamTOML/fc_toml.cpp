#include "fc_toml.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <new>
#include <string>
#include <string_view>
#include <vector>

// toml++ asserts, and where NDEBUG is defined assumes, things that a wrong document makes false: "[=" is one. Here a
// false assertion ends the reading instead; toml++'s own exceptions stay off.
#undef NDEBUG
namespace {
struct reading_ended {};
} // namespace
#define TOML_ASSERT(condition)                                                                                             \
	do {                                                                                                               \
		if (!(condition))                                                                                          \
			throw reading_ended();                                                                             \
	} while (false)

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_UNRELEASED_FEATURES 0
// toml++ itself refuses values nested deeper; dotted keys and headers are bounded by the length of a line.
#define TOML_MAX_NESTED_VALUES 8
#include <toml++/toml.h>

struct fc_toml {
	std::vector<fc_toml_node> nodes;
	// A deque never moves its elements: the nodes point into them.
	std::deque<std::string> texts;
	std::string problem;
	uint32_t line = 0;
	uint32_t column = 0;
};

namespace {

bool fail(fc_toml &document, std::string_view problem, toml::source_position at)
{
	document.problem.assign(problem);
	document.line = at.line;
	document.column = at.column;
	return false;
}

std::string_view keep(fc_toml &document, std::string_view text)
{
	document.texts.emplace_back(text);
	return document.texts.back();
}

bool add_children(fc_toml &document, const toml::node &parent, int32_t index, int depth);

bool add(fc_toml &document, const toml::node &node, int32_t parent, const toml::key *key, int depth)
{
	const auto at = node.source().begin;
	const auto key_at = key ? key->source().begin : at;
	if (depth > FC_TOML_MAXIMUM_DEPTH)
		return fail(document, "tables nested too deeply; 16 levels are allowed", key_at);
	const std::string_view name = keep(document, key ? key->str() : std::string_view());
	fc_toml_node entry{};
	entry.parent = parent;
	entry.key = name.data();
	entry.key_length = name.size();
	entry.text = "";
	entry.key_line = key_at.line;
	entry.key_column = key_at.column;
	entry.line = at.line;
	entry.column = at.column;
	switch (node.type()) {
	case toml::node_type::table:
		entry.type = FC_TOML_TABLE;
		break;
	case toml::node_type::array:
		entry.type = FC_TOML_ARRAY;
		break;
	case toml::node_type::string: {
		entry.type = FC_TOML_STRING;
		const std::string_view text = keep(document, node.as_string()->get());
		entry.text = text.data();
		entry.text_length = text.size();
		break;
	}
	case toml::node_type::integer:
		entry.type = FC_TOML_INTEGER;
		entry.integer = node.as_integer()->get();
		break;
	case toml::node_type::floating_point:
		entry.type = FC_TOML_FLOAT;
		entry.real = node.as_floating_point()->get();
		break;
	case toml::node_type::boolean:
		entry.type = FC_TOML_BOOLEAN;
		entry.integer = node.as_boolean()->get() ? 1 : 0;
		break;
	default:
		entry.type = FC_TOML_DATE_TIME;
		break;
	}
	const auto index = static_cast<int32_t>(document.nodes.size());
	document.nodes.push_back(entry);
	return add_children(document, node, index, depth + 1);
}

bool add_children(fc_toml &document, const toml::node &parent, int32_t index, int depth)
{
	if (const toml::table *table = parent.as_table()) {
		for (auto &&[key, value] : *table)
			if (!add(document, value, index, &key, depth))
				return false;
	} else if (const toml::array *array = parent.as_array()) {
		for (const toml::node &value : *array)
			if (!add(document, value, index, nullptr, depth))
				return false;
	}
	return true;
}

// A line's length bounds how many tables one dotted key makes, and so how deep toml++'s destructors recurse.
bool lines_fit(fc_toml &document, std::string_view bytes)
{
	uint32_t line = 1;
	size_t start = 0;
	for (size_t i = 0; i <= bytes.size(); i++) {
		if (i < bytes.size() && bytes[i] != '\n')
			continue;
		if (i - start > FC_TOML_MAXIMUM_LINE)
			return fail(document, "a line longer than 2048 bytes; make it shorter", {line, 1});
		start = i + 1;
		line++;
	}
	return true;
}

// Where the first byte beyond ASCII stands that is in neither a string nor a comment; npos: nowhere. TOML has none there,
// and toml++'s test for exotic white space has no defined answer to them (its generated table ends in "unreachable").
size_t stray_character(std::string_view text)
{
	size_t i = text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
	while (i < text.size()) {
		const char c = text[i];
		if (static_cast<unsigned char>(c) >= 0x80)
			return i;
		if (c == '#') {
			i = std::min(text.find('\n', i), text.size());
		} else if (c == '"' || c == '\'') {
			const bool is_long = text.substr(i, 3) == std::string(3, c);
			i += is_long ? 3 : 1;
			while (i < text.size()) {
				if (is_long ? text.substr(i, 3) == std::string(3, c) : text[i] == c || text[i] == '\n')
					break;
				i += c == '"' && text[i] == '\\' ? 2 : 1;
			}
			i += is_long ? 3 : 1;
		} else {
			i++;
		}
	}
	return std::string_view::npos;
}

toml::source_position position(std::string_view text, size_t offset)
{
	toml::source_position at{1, 1};
	for (const char c : text.substr(0, offset)) {
		if (c == '\n')
			at = {at.line + 1, 1};
		else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
			at.column++;
	}
	return at;
}

bool confuses(std::string_view text)
{
	try {
		const toml::parse_result parsed = toml::parse(text);
		return false;
	} catch (const reading_ended &) {
		return true;
	}
}

// The first line behind which reading ends in a false assertion: what comes later can't matter.
uint32_t confusing_line(std::string_view text)
{
	std::vector<size_t> ends;
	for (size_t i = 0; i < text.size(); i++)
		if (text[i] == '\n')
			ends.push_back(i + 1);
	ends.push_back(text.size());
	size_t low = 0, high = ends.size() - 1;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (confuses(text.substr(0, ends[middle])))
			high = middle;
		else
			low = middle + 1;
	}
	return static_cast<uint32_t>(low + 1);
}

} // namespace

int fc_toml_read(const char *bytes, size_t length, fc_toml **result)
{
	*result = nullptr;
	fc_toml *document = new (std::nothrow) fc_toml;
	if (!document)
		return -ENOMEM;
	*result = document;
	if (length > FC_TOML_MAXIMUM_BYTES) {
		fail(*document, "the file is longer than 256 KiB; settings are short", {1, 1});
		return -E2BIG;
	}
	const std::string_view text(bytes, length);
	if (!lines_fit(*document, text))
		return -EINVAL;
	const size_t stray = stray_character(text);
	try {
		const toml::parse_result parsed = toml::parse(text.substr(0, stray));
		if (stray != std::string_view::npos) {
			const auto at = position(text, stray);
			if (parsed || parsed.error().source().begin.line >= at.line) {
				fail(*document, "a character here is allowed only in quotation marks and in comments", at);
				return -EINVAL;
			}
		}
		if (!parsed) {
			fail(*document, parsed.error().description(), parsed.error().source().begin);
			return -EINVAL;
		}
		return add_children(*document, parsed.table(), -1, 0) ? 0 : -EINVAL;
	} catch (const reading_ended &) {
		fail(*document, "a key, a bracket or a quotation mark is missing or out of place", {confusing_line(text.substr(0, stray)), 1});
		return -EINVAL;
	} catch (const std::bad_alloc &) {
		delete document;
		*result = nullptr;
		return -ENOMEM;
	}
}

size_t fc_toml_count(const fc_toml *document) { return document->nodes.size(); }

const fc_toml_node *fc_toml_at(const fc_toml *document, size_t index) { return &document->nodes[index]; }

const char *fc_toml_problem(const fc_toml *document, uint32_t *line, uint32_t *column)
{
	*line = document->line;
	*column = document->column;
	return document->problem.c_str();
}

void fc_toml_free(fc_toml *document) { delete document; }
