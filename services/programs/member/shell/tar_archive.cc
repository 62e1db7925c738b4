#include "services/programs/member/shell/tar_archive.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace shiplog::member {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kLongestName = 4096;  // of a header that only holds names

// Where the fields of a header are.
struct HeaderField {
  size_t begin;
  size_t size;
};
constexpr HeaderField kName{0, 100};
constexpr HeaderField kMode{100, 8};
constexpr HeaderField kUser{108, 8};
constexpr HeaderField kGroup{116, 8};
constexpr HeaderField kSize{124, 12};
constexpr HeaderField kModified{136, 12};
constexpr HeaderField kChecksum{148, 8};
constexpr size_t kType = 156;
constexpr HeaderField kMagic{257, 6};
constexpr HeaderField kPrefix{345, 155};

std::string_view text_of(std::string_view header, HeaderField field) {
  const std::string_view text = header.substr(field.begin, field.size);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

std::optional<uint64_t> number_of(std::string_view header, HeaderField field) {
  std::string_view text = text_of(header, field);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return 0;
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, 8);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

uint64_t checksum_of(std::string_view header) {
  uint64_t sum = 0;
  for (size_t index = 0; index < header.size(); ++index) {
    const bool own = index >= kChecksum.begin && index < kChecksum.begin + kChecksum.size;
    sum += own ? ' ' : static_cast<unsigned char>(header[index]);
  }
  return sum;
}

size_t padded(size_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

/// The path in a pax header: lines of "LENGTH KEY=VALUE".
std::string pax_path(std::string_view records) {
  while (!records.empty()) {
    size_t length = 0;
    const auto parsed = std::from_chars(records.data(), records.data() + records.size(), length);
    if (parsed.ec != std::errc{} || length == 0 || length > records.size()) return {};
    std::string_view record = records.substr(0, length);
    records.remove_prefix(length);
    record.remove_prefix(std::min(record.find(' '), record.size() - 1) + 1);
    if (record.starts_with("path=") && record.ends_with('\n')) return std::string{record.substr(5, record.size() - 6)};
  }
  return {};
}

void put_number(std::string& header, HeaderField field, uint64_t number) {
  std::string digits(field.size - 1, '0');
  for (size_t index = digits.size(); index > 0; --index, number >>= 3U) {
    digits[index - 1] = static_cast<char>('0' + (number & 7U));
  }
  header.replace(field.begin, digits.size(), digits);
}

std::string header_of(std::string_view name, char type, const TarEntry& entry, size_t size) {
  std::string header(kBlock, '\0');
  header.replace(kName.begin, std::min(name.size(), kName.size), name.substr(0, kName.size));
  put_number(header, kMode, entry.mode);
  put_number(header, kUser, 0);
  put_number(header, kGroup, 0);
  put_number(header, kSize, size);
  put_number(header, kModified, static_cast<uint64_t>(std::max<int64_t>(entry.modified, 0)));
  header[kType] = type;
  header.replace(kMagic.begin, 8, std::string_view{"ustar\00000", 8});
  put_number(header, kChecksum, checksum_of(header));
  return header;
}

}  // namespace

Result<std::optional<TarEntry>> TarReader::next() {
  const std::optional<TarEntry> nothing;
  while (!ended_ && held_.size() >= kBlock) {
    const std::string_view header = std::string_view{held_}.substr(0, kBlock);
    if (header.find_first_not_of('\0') == std::string_view::npos) {
      ended_ = true;
      held_.clear();
      break;
    }
    const auto size = number_of(header, kSize);
    if (!size || number_of(header, kChecksum) != checksum_of(header)) {
      return Error{ErrorCode::kInvalid, "This does not look like a tar archive"};
    }
    const char type = header[kType];
    const bool names = type == 'x' || type == 'g' || type == 'L' || type == 'K';
    if (*size > (names ? kLongestName : longest_file_)) {
      return Error{ErrorCode::kTooLarge, std::string{text_of(header, kName)} + ": No space left on device"};
    }
    if (held_.size() < kBlock + padded(static_cast<size_t>(*size))) return nothing;
    SHIPLOG_TRY(auto found, member());
    if (found) return found;
  }
  return nothing;
}

/// Takes one member, which is there as a whole, off the front; nullopt: it holds no file.
Result<std::optional<TarEntry>> TarReader::member() {
  const std::string_view header = std::string_view{held_}.substr(0, kBlock);
  const auto size = static_cast<size_t>(number_of(header, kSize).value_or(0));
  const char type = header[kType];
  TarEntry entry;
  entry.mode = static_cast<uint32_t>(number_of(header, kMode).value_or(0644) & 0777U);
  entry.modified = static_cast<int64_t>(number_of(header, kModified).value_or(0));
  entry.name = text_of(header, kName);
  const std::string_view prefix = text_of(header, kPrefix);
  if (text_of(header, kMagic) == "ustar" && !prefix.empty()) entry.name = std::string{prefix} + "/" + entry.name;
  entry.content = held_.substr(kBlock, size);
  held_.erase(0, kBlock + padded(size));
  std::optional<TarEntry> found;
  if (type == 'x') {
    long_name_ = pax_path(entry.content);
    return found;
  }
  if (type == 'L') {
    long_name_ = entry.content.substr(0, entry.content.find('\0'));
    return found;
  }
  if (!long_name_.empty()) entry.name = std::exchange(long_name_, {});
  entry.directory = type == '5' || entry.name.ends_with('/');
  if (type == '0' || type == '\0' || type == '5' || type == '7') found = std::move(entry);
  return found;
}

std::string tar_header(const TarEntry& entry, size_t size) {
  const std::string name = entry.directory && !entry.name.ends_with('/') ? entry.name + "/" : entry.name;
  std::string bytes;
  if (name.size() > kName.size) {
    bytes += header_of("././@LongLink", 'L', entry, name.size() + 1);
    bytes += name;
    bytes.append(padded(name.size() + 1) - name.size(), '\0');
  }
  bytes += header_of(name, entry.directory ? '5' : '0', entry, entry.directory ? 0 : size);
  return bytes;
}

std::string tar_padding(size_t size) { return std::string(padded(size) - size, '\0'); }

}  // namespace shiplog::member
