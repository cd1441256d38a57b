// Whose a connection on the loopback is: every user of the machine reaches it.
#pragma once

namespace msvm::cli {

/// Whether the other end of this IPv4 loopback connection is a socket of this user, or of root.
bool is_own_peer(int fd);

}  // namespace msvm::cli
