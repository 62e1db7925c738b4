#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace shiplog::ctl {

/// A field of CSV: a number unchanged, null as an empty field, a text quoted where RFC 4180 requires it. A text that
/// begins with =, +, -, @, a tab or a carriage return gets an apostrophe in front: spreadsheets would run it as a
/// formula, and users choose what their clients call themselves.
std::string csv_text(std::string_view text);
/// The fields, each from csv_text() or a number, as a record that ends with CRLF.
std::string csv_record(const std::vector<std::string>& fields);

/// Where a file that an export was writing is complete up to.
struct CompleteRecords {
  uint64_t bytes = 0;  ///< of all complete records
  uint64_t records = 0;
  std::string last;  ///< the last complete record, without its end; empty: there is none
  std::string rest;  ///< what follows: a record that was cut off
};
/// Of CSV: a record ends at a line break outside of quotes.
CompleteRecords complete_csv(std::istream& file);
/// Of a line for each record.
CompleteRecords complete_lines(std::istream& file);

}  // namespace shiplog::ctl
