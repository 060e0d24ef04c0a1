package temporal

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLS says how connections to Temporal are secured. Without any of its settings
// they are not.
type TLS struct {
	Enabled    bool   `setting:"enabled" default:"false" help:"Whether to connect with TLS. The other settings of TLS enable it too."`
	CA         string `setting:"ca" help:"File with the certificates (PEM) of the authorities that may have signed the server's; empty for those of the system."`
	Cert       string `setting:"cert" help:"File with the certificate (PEM) that this process shows to the server."`
	Key        string `setting:"key" help:"File with the private key (PEM) of cert."`
	ServerName string `setting:"server_name" help:"Name that the server's certificate must have, if it is not the host of address."`
}

// config is nil if connections are not secured.
func (t TLS) config() (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls.ca cannot be read: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca: %s has no certificate in PEM form", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("tls.cert and tls.key belong together: give both, or neither")
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls.cert and tls.key cannot be read: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
