"""How the processes of a run find one another, before JAX is told of them."""

import socket
import time


class ParallelError(Exception):
    """The devices or processes asked for aren't there, or processes don't fit together."""


def split_address(address):
    """Split ``host:port``; IPv6 hosts stand in brackets.

    Raises
    ------
    ParallelError
        If it isn't of that form.
    """
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal() and 0 < int(port) < 65536):
        raise ParallelError(f"coordinator {address!r} isn't host:port, as 10.0.0.1:1234 is")
    return host.strip("[]"), int(port)


def meet(host, port, num_processes, process_id, timeout):
    """Wait until all processes have met at the coordinator, and check that they fit together.

    Parameters
    ----------
    host : str
    port : int
    num_processes, process_id : int
    timeout : float
        Seconds.

    Raises
    ------
    ParallelError
        In every process that came, with the same message.
    """
    if process_id:
        problem = _visit(host, port, f"{process_id} {num_processes}\n", timeout)
    else:
        problem = _welcome(port, num_processes, timeout)
    if problem:
        raise ParallelError(problem)


def _welcome(port, num_processes, timeout):
    """Meet the others as process 0: what is wrong, or ""."""
    deadline = time.monotonic() + timeout
    dual = socket.has_dualstack_ipv6()
    try:
        server = socket.create_server(
            ("", port),
            family=socket.AF_INET6 if dual else socket.AF_INET,
            backlog=num_processes,
            dualstack_ipv6=dual,
        )
    except OSError as error:
        return f"port {port} can't be used for the coordinator ({error}); choose another"
    problem, present, connections = "", {0}, []
    with server:
        while not problem and len(present) < num_processes:
            server.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                missing = sorted(set(range(num_processes)) - present)
                problem = f"process {missing[0]} of {num_processes} didn't come in {timeout:g} s"
                if len(missing) > 1:
                    problem += f", nor did {len(missing) - 1} others"
                break
            line = _read_line(connection)
            number, _, count = line.partition(" ")
            if not (number.isdecimal() and count.isdecimal()):
                connection.close()  # no process of a run: a port scanner, say
                continue
            connections.append(connection)
            problem = _misfit(int(number), int(count), num_processes, present)
            present.add(int(number))
        for connection in connections:
            _answer(connection, problem)
    return problem


def _misfit(number, count, num_processes, present):
    """What is wrong with a process that says it is `number` of `count`, or ""."""
    if count != num_processes:
        return f"process {number} was told of {count} processes, process 0 of {num_processes}"
    if number in present:
        return f"two processes have the number {number}; each needs its own process_id"
    return ""


def _read_line(connection):
    """First line that comes, without its end; "" if none comes in five seconds."""
    connection.settimeout(5)
    try:
        with connection.makefile("r", encoding="utf-8", errors="replace") as file:
            return file.readline(100).rstrip("\n")
    except OSError:
        return ""


def _answer(connection, problem):
    with connection:
        try:
            connection.sendall(f"{problem or 'ok'}\n".encode())
            connection.shutdown(socket.SHUT_WR)
            # The other end closes first, so that the port is free at once for JAX's own service.
            connection.recv(1)
        except OSError:
            return  # that process is gone, which JAX finds out


def _visit(host, port, greeting, timeout):
    """Meet process 0 as another one: what is wrong, or ""."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection((host, port), timeout)
            break
        except socket.gaierror as error:
            return f"the coordinator's host {host} isn't known ({error})"
        except OSError as error:
            if time.monotonic() > deadline:
                return (
                    f"no coordinator at {host}:{port} in {timeout:g} s ({error}); start process 0 "
                    "there, and check address and firewall"
                )
            time.sleep(0.2)
    with connection:
        # Process 0 answers once all are there, or its own time is over.
        connection.settimeout(timeout + 5)
        try:
            connection.sendall(greeting.encode())
            with connection.makefile("r", encoding="utf-8", errors="replace") as file:
                answer = file.readline().rstrip("\n")
        except OSError as error:
            answer, reason = "", f" ({error})"
        else:
            reason = ""
    if not answer:
        return f"what listens at {host}:{port} isn't process 0 of a run, or it ended{reason}"
    return "" if answer == "ok" else answer
