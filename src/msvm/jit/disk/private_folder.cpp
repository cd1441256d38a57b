#include "msvm/jit/disk/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace msvm::jit {
namespace {

constexpr mode_t kPermissions = 07777;

Status refused(const std::string& what) { return {StatusCode::kIo, what}; }

/// Whether nobody but root and this user can exchange what lies in the folder.
Status check_component(const struct stat& info, const std::string& path) {
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return refused(fmt::format("{} belongs to user {}, expected root or user {}: choose another folder by MSVM_CACHE_DIR", path,
                               info.st_uid, ::geteuid()));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return refused(
        fmt::format("{} can be written by others (mode {:04o}): chmod go-w {}", path, info.st_mode & kPermissions, path));
  }
  return {};
}

Status check_last(const struct stat& info, const std::string& path) {
  if (info.st_uid != ::geteuid()) {
    return refused(fmt::format("{} belongs to user {}, expected user {}: choose another folder by MSVM_CACHE_DIR", path,
                               info.st_uid, ::geteuid()));
  }
  if ((info.st_mode & 0777) != 0700) {
    return refused(fmt::format("{} has mode {:04o}, expected 0700: chmod 700 {}", path, info.st_mode & kPermissions, path));
  }
  return {};
}

Status open_error(int folder, const char* name, const std::string& path, int error) {
  struct stat info{};
  if (error == ENOENT) return {StatusCode::kNotFound, fmt::format("{} isn't there", path)};
  if ((error == ENOTDIR || error == ELOOP) && ::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode)) {
    return refused(fmt::format("{} is a link, which isn't followed: name the place that it leads to", path));
  }
  return refused(fmt::format("can't open {}: {}", path, std::strerror(error)));
}

/// Folder `name` in `parent`, by itself and not through a link.
Result<Fd> enter(int parent, const std::string& name, const std::string& path, bool create) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd fd(::openat(parent, name.c_str(), kFlags));
  if (!fd.ok() && errno == ENOENT && create) {
    if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
      return refused(fmt::format("can't make {}: {}", path, std::strerror(errno)));
    fd = Fd(::openat(parent, name.c_str(), kFlags));
  }
  if (!fd.ok()) return open_error(parent, name.c_str(), path, errno);
  return fd;
}

}  // namespace

Result<std::string> code_folder() {
  auto variable = [](const char* name) {
    const char* value = ::secure_getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = variable("MSVM_CACHE_DIR"); !folder.empty()) return folder;
  // The rule of XDG: what isn't absolute doesn't count.
  if (std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/')) return cache + "/msvm/code";
  if (std::string home = variable("HOME"); !home.empty()) return home + "/.cache/msvm/code";
  return Status(StatusCode::kNotFound, "no place for compiled code: HOME isn't set; set MSVM_CACHE_DIR");
}

Result<Fd> open_private_folder(const std::string& path, bool create) {
  if (!path.starts_with('/') || path.find('\0') != std::string::npos)
    return refused(fmt::format("\"{}\" isn't an absolute path", path));
  Fd folder(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  if (!folder.ok() || ::fstat(folder.get(), &info) != 0) return refused(fmt::format("can't open /: {}", std::strerror(errno)));
  MSVM_RETURN_IF_ERROR(check_component(info, "/"));
  std::string walked;
  for (size_t from = 1; from < path.size();) {
    const size_t to = std::min(path.find('/', from), path.size());
    const std::string name = path.substr(from, to - from);
    from = to + 1;
    if (name.empty() || name == ".") continue;
    walked += "/" + name;
    if (name == "..") return refused(fmt::format("\"{}\" has a \"..\" in it", path));
    MSVM_ASSIGN_OR_RETURN(folder, enter(folder.get(), name, walked, create));
    if (::fstat(folder.get(), &info) != 0) return refused(fmt::format("can't open {}: {}", walked, std::strerror(errno)));
    MSVM_RETURN_IF_ERROR(check_component(info, walked));
  }
  MSVM_RETURN_IF_ERROR(check_last(info, walked));
  Fd readable(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable.ok()) return refused(fmt::format("can't open {}: {}", walked, std::strerror(errno)));
  return readable;
}

}  // namespace msvm::jit
