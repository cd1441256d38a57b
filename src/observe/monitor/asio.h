// The parts of Asio and Beast that the room uses, and how coroutines hear of errors.
#pragma once
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace msvm::observe {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

/// Completions as tuples that begin with the error: nothing is thrown.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace msvm::observe
