package blob_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/blob"
	"github.com/assayhq/assay/internal/platform/devenv"
)

// roleVar makes this binary a child process of a test.
const roleVar = "BLOB_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(child(role))
	}
	os.Exit(runTests(m))
}

// runTests gives the AWS library what it reads from the environment, so that
// nothing of the developer's own account takes part.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "assay-blob-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID":           "assay",
		"AWS_SECRET_ACCESS_KEY":       "only-for-tests",
		"AWS_SESSION_TOKEN":           "",
		"AWS_PROFILE":                 "",
		"AWS_CONFIG_FILE":             filepath.Join(dir, "none"),
		"AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "none"),
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CA_BUNDLE":               filepath.Join(dir, "cert.pem"),
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if err := certify(dir); err != nil {
		panic(err)
	}
	s3 = sync.OnceValues(func() (*gateway, error) { return startGateway(dir) })
	code := m.Run()
	if running != nil {
		_ = running.stop.Close()
		_ = running.cmd.Wait()
	}
	return code
}

// certify writes a certificate for 127.0.0.1, which the AWS library trusts. Over
// TLS it sends bytes and checksums in another way than without.
func certify(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	write := func(name, kind string, bytes []byte) error {
		return os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600)
	}
	return errors.Join(write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", private))
}

// gateway is a real S3 server over a folder; the folders in it are buckets.
type gateway struct {
	addr, folder string
	cmd          *exec.Cmd
	stop         io.Closer
}

var (
	s3      func() (*gateway, error) // starts it when the first test asks
	running *gateway
)

func startGateway(dir string) (*gateway, error) {
	tool, err := devenv.Tool("versitygw")
	if err != nil {
		return nil, err
	}
	g := &gateway{folder: filepath.Join(dir, "buckets")}
	if err := os.Mkdir(g.folder, 0o700); err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g.addr = free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	// The shell ends the server when its input ends, which it does however this
	// process ends.
	g.cmd = exec.Command("sh", "-c", `"$@" & cat >/dev/null; kill -9 $!; wait`, "sh", tool,
		"--quiet", "--port", g.addr, "--cert", filepath.Join(dir, "cert.pem"), "--key", filepath.Join(dir, "key.pem"),
		"posix", g.folder)
	g.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=assay", "ROOT_SECRET_KEY=only-for-tests")
	log, err := os.Create(filepath.Join(dir, "gateway.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	g.cmd.Stdout, g.cmd.Stderr = log, log
	if g.stop, err = g.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	running = g
	for until := time.Now().Add(30 * time.Second); ; {
		conn, err := net.DialTimeout("tcp", g.addr, time.Second)
		if err == nil {
			return g, conn.Close()
		}
		if time.Now().After(until) {
			said, _ := os.ReadFile(log.Name())
			return nil, fmt.Errorf("versitygw does not answer: %w\n%s", err, said)
		}
		time.Sleep(20 * time.Millisecond) // a server tells nobody that it listens
	}
}

// newBucket makes an empty bucket and returns the configuration of a store on
// it. A missing server is a failure.
func newBucket(t testing.TB) blob.Config {
	t.Helper()
	g, err := s3()
	require.NoError(t, err)
	name := uuid.NewString()
	require.NoError(t, os.Mkdir(filepath.Join(g.folder, name), 0o700))
	return bucketAt("https://"+g.addr, name)
}

func bucketAt(endpoint, name string) blob.Config {
	return blob.Config{URL: "s3://" + name + "?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape(endpoint)}
}

func newFolder(t testing.TB) blob.Config {
	t.Helper()
	return blob.Config{URL: "file://" + t.TempDir()}
}

func open(t testing.TB, cfg blob.Config) *blob.Store {
	t.Helper()
	require.NoError(t, cfg.Validate())
	s, err := blob.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}
