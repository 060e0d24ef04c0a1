package temporal_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/assayhq/assay/internal/platform/temporal"
)

// authority signs certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{cert: cert, key: key}
}

// issue writes a certificate for a name, and its key, into files.
func (a authority) issue(t *testing.T, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, &private.PublicKey, a.key)
	require.NoError(t, err)
	text, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return write(t, name+".crt", "CERTIFICATE", der), write(t, name+".key", "PRIVATE KEY", text)
}

func (a authority) file(t *testing.T) string {
	t.Helper()
	return write(t, "ca.crt", "CERTIFICATE", a.cert.Raw)
}

func write(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return file
}

// frontend answers the first question of every client.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

// serve is a frontend that answers only over TLS, to clients with a certificate
// of the authority. It has the name temporal.internal.
func serve(t *testing.T, a authority) (address string) {
	t.Helper()
	certFile, keyFile := a.issue(t, "temporal.internal")
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	require.NoError(t, err)
	clients := x509.NewCertPool()
	clients.AddCert(a.cert)
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	})))
	workflowservice.RegisterWorkflowServiceServer(server, frontend{})
	state := health.NewServer()
	state.SetServingStatus("temporal.api.workflowservice.v1.WorkflowService", healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(server, state)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return l.Addr().String()
}

func TestTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	address, ca := serve(t, a), a.file(t)
	cert, key := a.issue(t, "assay")
	ping := func(t *testing.T, secured temporal.TLS) error {
		t.Helper()
		c, err := temporal.Open(temporal.Config{Address: address, Namespace: "assay", QueuePrefix: "assay", TLS: secured}, nil)
		require.NoError(t, err)
		t.Cleanup(c.Close)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return c.Ping(ctx)
	}
	right := temporal.TLS{CA: ca, Cert: cert, Key: key, ServerName: "temporal.internal"}
	require.NoError(t, ping(t, right))

	other := newAuthority(t)
	otherCert, otherKey := other.issue(t, "assay")
	for name, wrong := range map[string]temporal.TLS{
		"nothing":                           {},
		"no authority":                      {Enabled: true, Cert: cert, Key: key, ServerName: "temporal.internal"},
		"another authority":                 {CA: other.file(t), Cert: cert, Key: key, ServerName: "temporal.internal"},
		"no certificate":                    {CA: ca, ServerName: "temporal.internal"},
		"a certificate of nobody it trusts": {CA: ca, Cert: otherCert, Key: otherKey, ServerName: "temporal.internal"},
		"another name":                      {CA: ca, Cert: cert, Key: key, ServerName: "elsewhere.internal"},
		"the name of the address":           {CA: ca, Cert: cert, Key: key},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, ping(t, wrong))
		})
	}
}

func TestSettingsOfTLSThatCannotWork(t *testing.T) {
	t.Parallel()
	cert, key := newAuthority(t).issue(t, "assay")
	for says, wrong := range map[string]temporal.TLS{
		"tls.ca cannot be read":                {CA: filepath.Join(t.TempDir(), "none")},
		"has no certificate in PEM form":       {CA: key},
		"tls.cert and tls.key belong together": {Cert: cert},
		"tls.cert and tls.key cannot be read":  {Cert: cert, Key: cert},
	} {
		cfg := temporal.Config{Address: "a:1", Namespace: "n", QueuePrefix: "q", TLS: wrong}
		require.ErrorContains(t, cfg.Validate(), says)
		_, err := temporal.Open(cfg, nil)
		require.ErrorContains(t, err, says)
	}
}
