/*
 * Serves the ClickHouse engine inside libchdb over the native protocol and HTTP.
 *
 *   server LIBCHDB [clickhouse-local options, such as --path and --tcp_port]
 *
 * No package registry carries a current clickhouse-server, but libchdb is the
 * same engine with the same storage, and its clickhouse-local entry point can
 * open listeners on request. The program asks for both listeners and then
 * parks its own session on a query without an end, because the engine lives
 * exactly as long as that session does.
 *
 * A session without a terminal is a batch to the engine: it aborts the whole
 * process at the first error of any connection, and a client that goes away in
 * the middle of an answer is such an error. So the program gives it a terminal
 * to itself, on which nobody writes, and asks for an interactive session. Errors
 * of connections then end those connections, as they do in clickhouse-server.
 *
 * The process may be killed at any moment: an acknowledged INSERT is on disk
 * and is there at the next start. The program returns 1 when the engine gives
 * up by itself, with the engine's reason on standard error, and 2 when it was
 * called wrongly.
 */
#define _GNU_SOURCE /* for the functions of pseudo-terminals */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct result;
typedef struct result *run_fn(int argc, char **argv);
typedef const char *reason_fn(struct result *);

static char serve[] =
    "--query="
    "SYSTEM START LISTEN TCP;"
    "SYSTEM START LISTEN HTTP;"
    /* One row a second, forever. The limits of the user profile do not apply. */
    "SELECT sleepEachRow(1) FROM system.numbers"
    " SETTINGS max_block_size = 1, max_execution_time = 0,"
    " function_sleep_max_microseconds_per_block = 0, log_queries = 0 FORMAT Null";

static char interactive[] = "--interactive";

/* Makes a new terminal the standard input. Its other end stays open, unread,
   for the life of the process; neither becomes a controlling terminal. */
static void take_terminal(void) {
    int other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (other < 0 || grantpt(other) != 0 || unlockpt(other) != 0) {
        perror("cannot make a terminal for the engine");
        exit(1);
    }
    int terminal = open(ptsname(other), O_RDWR | O_NOCTTY);
    if (terminal < 0 || dup2(terminal, STDIN_FILENO) < 0) {
        perror("cannot give the engine a terminal");
        exit(1);
    }
    if (terminal != STDIN_FILENO) {
        close(terminal);
    }
}

static void *need(void *lib, const char *path, const char *symbol) {
    void *address = dlsym(lib, symbol);
    if (address == NULL) {
        fprintf(stderr, "%s has no %s: it is not a libchdb that can serve\n", path, symbol);
        exit(1);
    }
    return address;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s LIBCHDB [options]\n", argv[0]);
        return 2;
    }
    const char *path = argv[1];
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (lib == NULL) {
        fprintf(stderr, "cannot load the engine: %s\n", dlerror());
        return 1;
    }
    run_fn *run = (run_fn *)need(lib, path, "chdb_query_cmdline");
    reason_fn *reason = (reason_fn *)need(lib, path, "chdb_result_error");

    /* The engine sees the program's name, the caller's options, the query and
       the word for a session with a terminal; the slot that held the library's
       path takes the program's name. */
    char **args = calloc((size_t)argc + 2, sizeof *args);
    if (args == NULL) {
        perror("calloc");
        return 1;
    }
    args[0] = argv[0];
    for (int i = 2; i < argc; i++) {
        args[i - 1] = argv[i];
    }
    args[argc - 1] = serve;
    args[argc] = interactive;
    take_terminal();

    const char *why = reason(run(argc + 1, args));
    fprintf(stderr, "the engine ended: %s\n", why != NULL ? why : "no reason given");
    return 1;
}
