package ingest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assayhq/assay/internal/test/prove/rig"
)

// store is object storage of one kind.
type store struct {
	name string
	env  []string
	// folder is where its objects lie in the end.
	folder string
}

const (
	onDisk = "disk"
	inS3   = "s3"
)

// startStores prepares a folder on a small disk, and a bucket behind a proxy.
func (s *system) startStores(ctx context.Context) error {
	folder := filepath.Join(s.State, "blobs")
	if err := s.addVolume(ctx, onDisk, folder, 2<<30); err != nil {
		return err
	}
	folder = filepath.Join(folder, "objects")
	s.stores[onDisk] = &store{name: onDisk, env: []string{"ASSAY_BLOB_URL=file://" + folder}, folder: folder}
	s.use(onDisk)
	return s.startGateway(ctx)
}

// startGateway starts a real S3 server over a folder. The way to it is TLS, as
// the way to any S3 is: the library sends bytes and checksums in another form
// without.
func (s *system) startGateway(ctx context.Context) error {
	const bucket = "telemetry"
	dir := filepath.Join(s.State, "gateway")
	folder := filepath.Join(dir, "buckets", bucket)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := certify(dir); err != nil {
		return err
	}
	address, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	certificate := filepath.Join(dir, "cert.pem")
	err = s.startTool("versitygw", []string{"ROOT_ACCESS_KEY=assay", "ROOT_SECRET_KEY=only-for-proofs"},
		"--quiet", "--port", address, "--cert", certificate, "--key", filepath.Join(dir, "key.pem"), "posix", filepath.Dir(folder))
	if err != nil {
		return err
	}
	if err := s.net.add(ctx, inS3, address); err != nil {
		return err
	}
	endpoint := url.QueryEscape("https://" + s.net.proxies[inS3].listen)
	s.stores[inS3] = &store{name: inS3, folder: folder, env: []string{
		"ASSAY_BLOB_URL=s3://" + bucket + "?region=us-east-1&use_path_style=true&endpoint=" + endpoint,
		"AWS_ACCESS_KEY_ID=assay", "AWS_SECRET_ACCESS_KEY=only-for-proofs", "AWS_CA_BUNDLE=" + certificate, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=" + filepath.Join(dir, "none"), "AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(dir, "none"),
	}}
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(until) {
			return fmt.Errorf("versitygw does not answer: %w", err)
		}
	}
}

// certify writes a certificate for 127.0.0.1.
func certify(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
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

// waiting lists the blocks that are deferred, the oldest first. What a killed
// writer left under a temporary name is no block.
func (s *store) waiting() (names []string, err error) {
	err = filepath.WalkDir(filepath.Join(s.folder, "deferred"), func(_ string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // drained while we looked, or never used
		case err != nil:
			return err
		case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), "~"):
			names = append(names, e.Name())
		}
		return nil
	})
	return names, err
}
