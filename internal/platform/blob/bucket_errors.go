package blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
)

// busyKey is S3's answer when two conditional writes of a key meet.
const busyKey = "ConditionalRequestConflict"

// translate marks an error that means "the store is away" with a fault, so that
// the caller is told to retry. What the store itself said about the request is
// returned as it is. ctx is the caller's: an end that the caller set is not the
// store's fault.
func (b *bucket) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if done := ctx.Err(); done != nil {
		return fmt.Errorf("%w: %w", done, err)
	}
	switch code(err) {
	case "NoSuchKey":
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case "NoSuchBucket":
		return fmt.Errorf("there is no bucket %q: create it, or change blob.url: %w", b.name, err)
	case "", "RequestTimeout", "SlowDown", busyKey:
		return unavailable(err)
	}
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) && (answer.HTTPStatusCode() >= http.StatusInternalServerError || answer.HTTPStatusCode() == http.StatusTooManyRequests) {
		return unavailable(err)
	}
	return err
}

// translateRead also handles "not found" without a reason: the answer to a HEAD
// has no body, nor has that of a server that is no S3 store. The object is
// missing if the bucket is there.
func (b *bucket) translateRead(ctx context.Context, err error) error {
	if code(err) != "NotFound" {
		return b.translate(ctx, err)
	}
	if err := b.ping(ctx); err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotFound, err)
}

// code is what the store said was wrong, and empty if it said nothing.
func code(err error) string {
	var said smithy.APIError
	if errors.As(err, &said) {
		return said.ErrorCode()
	}
	return ""
}
