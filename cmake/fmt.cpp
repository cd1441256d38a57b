// The compiled part of fmt, for what is shipped: it must not need libfmt.so. The templates are those that headers only declare.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template std::locale locale_ref::get<std::locale>() const;
template char decimal_point_impl<char>(locale_ref);
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal<float>(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal<double>(double) noexcept;
}  // namespace detail
FMT_END_NAMESPACE
