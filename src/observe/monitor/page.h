// The page, as it was built with web/ and linked in. No file is read at run time.
#pragma once
#include <string_view>

namespace msvm::observe {

std::string_view page_html();
/// Its Content-Security-Policy.
std::string_view page_policy();

}  // namespace msvm::observe
