package engine

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// postgresMajor is the release that Assay is developed on and ships with; a
// newer one found on the machine serves as well.
const postgresMajor = 15

// Roles of the database. The owner migrates; the application reads and writes
// under row security, so neither may bypass it.
const (
	ownerRole    = "assay_owner"
	appRole      = "assay_app"
	temporalRole = "temporal"

	assayDatabase = "assay"
)

// developmentPassword gives the password of a role on a developer's machine,
// where only loopback reaches the engines.
func developmentPassword(role string) string {
	if role == ownerRole || role == appRole {
		return "assay"
	}
	return role
}

// postgresSettings are the settings that development shares with the compose file.
var postgresSettings = map[string]string{
	"max_connections":    "300",
	"shared_buffers":     "256MB",
	"synchronous_commit": "on",
	"autovacuum":         "on",
}

// postgresDevelopment are the settings of development alone. fsync guards
// against a crash of the machine; without it a killed process still loses
// nothing, because the kernel holds what was written, and tests run faster.
var postgresDevelopment = map[string]string{
	"fsync":                   "off",
	"full_page_writes":        "off",
	"listen_addresses":        "127.0.0.1",
	"unix_socket_directories": "", // a socket's path is limited to 107 bytes, a checkout's is not
	"log_min_messages":        "warning",
	"timezone":                "UTC",
}

func startPostgres(ctx context.Context, c *Checkout) error {
	bin, err := c.postgresBin()
	if err != nil {
		return err
	}
	var ended <-chan error
	if _, up := c.running("postgres"); !up {
		if err := c.initPostgres(ctx, bin); err != nil {
			return err
		}
		if err := c.clearPostgres(); err != nil {
			return err
		}
		p := c.asPostgres(filepath.Join(bin, "postgres"), "-D", c.postgresData(), "-p", strconv.Itoa(c.Ports.on("postgres")))
		for _, settings := range []map[string]string{postgresSettings, postgresDevelopment} {
			for name, value := range settings {
				p.args = append(p.args, "-c", name+"="+value)
			}
		}
		if ended, err = c.spawn(p); err != nil {
			return err
		}
	}
	err = c.await(ctx, "postgres", "an answer", 40*time.Second, ended, func(ctx context.Context) error {
		_, err := c.psql(ctx, "postgres", "postgres", "-c", "SELECT 1")
		return err
	})
	if err != nil {
		return err
	}
	// The same script makes the roles and databases of the compose file.
	_, err = c.psql(ctx, "postgres", "postgres", "-f", filepath.Join(c.Root, "deploy", "postgres", "init.sql"))
	return err
}

func readyPostgres(ctx context.Context, c *Checkout) (string, error) {
	if _, err := c.psql(ctx, temporalRole, "temporal_visibility", "-c", "SELECT 1"); err != nil {
		return "", err
	}
	version, err := c.psql(ctx, appRole, assayDatabase, "-c", "SHOW server_version")
	version, _, _ = strings.Cut(version, " ")
	return version, err
}

func (c *Checkout) postgresData() string { return c.path("postgres", "data") }

// initPostgres makes the data directory. It appears complete or not at all, so
// that an interrupted first start does not spoil the next.
func (c *Checkout) initPostgres(ctx context.Context, bin string) error {
	data := c.postgresData()
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return nil
	}
	c.say("postgres", "initialising its data directory")
	fresh := data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		return err
	}
	passwordFile := c.path("postgres", "password")
	if err := writeFile(passwordFile, developmentPassword("postgres")+"\n", 0o644); err != nil {
		return err
	}
	p := c.asPostgres(filepath.Join(bin, "initdb"), "-D", fresh, "-U", "postgres", "--no-sync",
		"--auth=scram-sha-256", "--pwfile="+passwordFile, "--encoding=UTF8", "--locale=C.UTF-8")
	if p.credential != nil {
		if err := os.Chown(fresh, int(p.credential.Uid), int(p.credential.Gid)); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential, AmbientCaps: p.caps}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return os.Rename(fresh, data)
}

// clearPostgres removes what a killed server left behind. Its backends notice
// the loss by themselves within moments, and the lock file is of no use once
// no process works in the data directory.
func (c *Checkout) clearPostgres() error {
	data, err := filepath.EvalSymlinks(c.postgresData())
	if err != nil {
		return err
	}
	for _, left := range processes(func(pid int, _ stat) bool {
		dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		return err == nil && dir == data
	}) {
		if !waitGone(left, 3*time.Second) {
			_ = syscall.Kill(left.pid, syscall.SIGKILL)
			waitGone(left, 3*time.Second)
		}
	}
	return forget(filepath.Join(data, "postmaster.pid"))
}

// asPostgres makes a process of the server's programs. They refuse to run as
// root, so root becomes the postgres user, who may need help to reach a
// checkout inside a private directory: the right to pass directories goes with
// it then, and only then.
func (c *Checkout) asPostgres(args ...string) process {
	p := process{engine: "postgres", args: args, dir: "/"}
	if os.Geteuid() != 0 {
		return p
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return p // the server itself says best what is wrong
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	p.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	for dir := c.path("postgres"); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
			const capDACOverride, capDACReadSearch = 1, 2
			p.caps = []uintptr{capDACOverride, capDACReadSearch}
		}
		if dir == filepath.Dir(dir) {
			return p
		}
	}
}

// postgresBin finds the server's programs: those that made the data directory,
// or the newest when there is none yet.
func (c *Checkout) postgresBin() (string, error) {
	found := installedPostgres()
	if content, err := os.ReadFile(filepath.Join(c.postgresData(), "PG_VERSION")); err == nil {
		major, _ := strconv.Atoi(strings.TrimSpace(string(content)))
		if bin, here := found[major]; here {
			return bin, nil
		}
		return "", fmt.Errorf("the data in %s is of PostgreSQL %d, which is not installed; install it or remove the folder", c.postgresData(), major)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("no PostgreSQL server of version %d or later is installed", postgresMajor)
	}
	return found[slices.Max(slices.Collect(maps.Keys(found)))], nil
}

// installedPostgres maps each usable major version to the folder of its
// programs. The folders of the distribution come before the search path, where
// a program may be a wrapper without its companions.
var installedPostgres = sync.OnceValue(func() map[int]string {
	found := map[int]string{}
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		candidates = append(candidates, path)
	}
	for _, path := range candidates {
		out, err := exec.Command(path, "--version").Output()
		fields := strings.Fields(string(out))
		if err != nil || len(fields) < 3 {
			continue
		}
		text, _, _ := strings.Cut(fields[2], ".")
		major, err := strconv.Atoi(text)
		bin := filepath.Dir(path)
		if err != nil || major < postgresMajor || found[major] != "" || !hasPrograms(bin, "initdb", "psql") {
			continue
		}
		found[major] = bin
	}
	return found
})

func hasPrograms(dir string, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
}

// psql runs the client as the role and gives what it prints. The passwords of
// all roles are in its environment, for the script that sets them.
func (c *Checkout) psql(ctx context.Context, role, database string, args ...string) (string, error) {
	bin, err := c.postgresBin()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "psql"), append([]string{
		"--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "-v", "ON_ERROR_STOP=1",
	}, args...)...)
	// A server that was killed is met by all of its clients at once when it is back.
	cmd.Env = append(os.Environ(),
		"PGHOST=127.0.0.1", "PGPORT="+strconv.Itoa(c.Ports.on("postgres")), "PGSSLMODE=disable", "PGCONNECT_TIMEOUT=15",
		"PGUSER="+role, "PGPASSWORD="+developmentPassword(role), "PGDATABASE="+database,
		"PGOPTIONS=-c client_min_messages=warning")
	for variable, role := range postgresPasswords {
		cmd.Env = append(cmd.Env, variable+"="+developmentPassword(role))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("psql as %s: %w: %s", role, err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// postgresPasswords names the variables in which init.sql finds each role's
// password, in the compose file as in development.
var postgresPasswords = map[string]string{
	"ASSAY_POSTGRES_OWNER_PASSWORD": ownerRole,
	"ASSAY_POSTGRES_APP_PASSWORD":   appRole,
	"TEMPORAL_POSTGRES_PASSWORD":    temporalRole,
}
