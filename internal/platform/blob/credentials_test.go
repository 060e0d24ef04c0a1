package blob_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/blob"
)

const endpointVar = "BLOB_TEST_ENDPOINT"

// askInVain uses a store without credentials and says how long it took to hear
// so.
func askInVain() error {
	begin := time.Now()
	s, err := blob.Open(context.Background(), bucketAt(os.Getenv(endpointVar), "bucket"))
	if err != nil {
		return err
	}
	opened := time.Since(begin)
	err = s.Ping(context.Background())
	if !errors.Is(err, blob.ErrUnavailable) {
		return fmt.Errorf("want ErrUnavailable, got %w", err)
	}
	fmt.Fprintf(os.Stdout, "%s %s\n", opened, time.Since(begin)-opened)
	os.Exit(0)
	return nil
}

// A machine outside AWS often drops the question for its role without an
// answer.
func TestMissingCredentialsAreToldSoon(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and never answers
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })

	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=no credentials", "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_EC2_METADATA_DISABLED=",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT=http://"+silent.Addr().String(), endpointVar+"=http://127.0.0.1:1")
	out, err := cmd.Output()
	require.NoError(t, err, string(out))

	var opened, told string
	_, err = fmt.Sscan(string(out), &opened, &told)
	require.NoError(t, err)
	t.Logf("open took %s, the first call %s", opened, told)
	for text, most := range map[string]time.Duration{opened: 5 * time.Second, told: 40 * time.Second} {
		took, err := time.ParseDuration(text)
		require.NoError(t, err)
		require.Less(t, took, most)
	}
}
