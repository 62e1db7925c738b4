#pragma once

namespace shiplog {

/// Ends, for a std::unique_ptr, what a C library has made, by the library's own function:
/// std::unique_ptr<BIO, Freed<&::BIO_free>>.
template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* resource) const {
    Free(resource);
  }
};

}  // namespace shiplog
