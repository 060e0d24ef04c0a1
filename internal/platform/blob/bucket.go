package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// limits bound the time of a call.
type limits struct {
	connect  time.Duration // one connection, and once more its TLS handshake
	answer   time.Duration // from the end of a request to the beginning of its answer
	call     time.Duration // a call with all its attempts, beside the time for its bytes
	stall    time.Duration // a read of an open object that brings nothing
	backoff  time.Duration // between two attempts
	attempts int
	rate     int // bytes a second; an upload that is slower is given up
}

// usual lets a store stumble for some seconds, and tells a person who waits
// within a minute that it is away.
var usual = limits{
	connect:  3 * time.Second,
	answer:   15 * time.Second,
	call:     40 * time.Second,
	stall:    30 * time.Second,
	backoff:  2 * time.Second,
	attempts: 3,
	rate:     1 << 20,
}

// bucket keeps objects in a bucket of an S3 store. It needs the permissions
// s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket; without the
// last one S3 answers "forbidden" for an object that is missing.
type bucket struct {
	name   string
	limits limits
	bucket *blob.Bucket
	client *s3.Client
}

func openBucket(ctx context.Context, t target, l limits) (*bucket, error) {
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithRegion(t.region),
		config.WithHTTPClient(httpClient(l)),
		config.WithRetryer(func() aws.Retryer { return retryer(l) }),
	)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = t.pathStyle
		// Stores that keep no checksums are known; a line for each read is noise.
		o.DisableLogOutputChecksumValidationSkipped = true
		if t.endpoint != "" {
			o.BaseEndpoint = aws.String(t.endpoint)
		}
	})
	b, err := s3blob.OpenBucket(ctx, client, t.bucket, &s3blob.Options{RequestChecksumCalculation: cfg.RequestChecksumCalculation})
	if err != nil {
		return nil, err
	}
	return &bucket{name: t.bucket, limits: l, bucket: b, client: client}, nil
}

// httpClient bounds the steps of a request. The connection itself has no read
// timeout, because it reads nothing for as long as an upload takes.
//
// The AWS library knows this type: it asks the machine for a role, when the
// environment has no credentials, with a copy that waits half a second. Any
// other client would wait its full time there, again and again.
func httpClient(l limits) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithReadTimeout(0).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = l.connect }).
		WithTransportOptions(func(t *http.Transport) {
			t.TLSHandshakeTimeout = l.connect
			t.ResponseHeaderTimeout = l.answer
			t.MaxIdleConnsPerHost = 64 // many callers, one host
		})
}

func retryer(l limits) aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = l.attempts
		o.MaxBackoff = l.backoff
		// Another writer of the same key is at work; S3 asks to try again.
		o.Retryables = append(o.Retryables, retry.RetryableErrorCode{Codes: map[string]struct{}{busyKey: {}}})
	})
}

// bounded is the context of a call that moves so many bytes.
func (b *bucket) bounded(ctx context.Context, size int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, b.limits.call+time.Duration(size/b.limits.rate)*time.Second)
}

func (b *bucket) put(ctx context.Context, key string, content []byte, onlyNew bool) (bool, error) {
	bounded, cancel := b.bounded(ctx, len(content))
	defer cancel()
	in := &s3.PutObjectInput{
		Bucket: aws.String(b.name), Key: aws.String(key), ContentType: aws.String("application/octet-stream"),
		Body: bytes.NewReader(content), ContentLength: aws.Int64(int64(len(content))),
	}
	if onlyNew {
		in.IfNoneMatch = aws.String("*")
	}
	// gocloud would copy the bytes, and send an object of 16 MiB or more in
	// parts, of which an upload that is given up leaves some behind that nobody
	// lists and the operator pays for.
	_, err := b.client.PutObject(bounded, in)
	if onlyNew && code(err) == "PreconditionFailed" {
		return false, nil
	}
	return err == nil, b.translate(ctx, err)
}

func (b *bucket) open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	reading, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(b.limits.call, func() { cancel(errStalled) })
	r, err := b.bucket.NewReader(reading, key, nil)
	timer.Stop()
	if err != nil {
		cancel(nil)
		return nil, 0, b.translateRead(ctx, err)
	}
	return &stream{ctx: ctx, bucket: b, r: r, timer: timer, cancel: cancel}, r.Size(), nil
}

var errStalled = errors.New("the object storage sends nothing")

// stream is an open object. The time between two reads is the reader's own; a
// read ends when it brings nothing for too long.
type stream struct {
	ctx    context.Context
	bucket *bucket
	r      *blob.Reader
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err // some bytes may have arrived before
	}
	s.timer.Reset(s.bucket.limits.stall)
	n, err := s.r.Read(p)
	s.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.bucket.translate(s.ctx, err)
	}
	return n, err
}

func (s *stream) Close() error {
	s.timer.Stop()
	s.cancel(nil)
	return s.r.Close()
}

func (b *bucket) delete(ctx context.Context, key string) error {
	bounded, cancel := b.bounded(ctx, 0)
	defer cancel()
	// gocloud asks with a HEAD whether the object is there.
	err := b.translateRead(ctx, b.bucket.Delete(bounded, key))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (b *bucket) list(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	bounded, cancel := b.bounded(ctx, 0)
	defer cancel()
	opts := &blob.ListOptions{Prefix: prefix, BeforeList: func(as func(any) bool) error {
		var in *s3.ListObjectsV2Input
		if !as(&in) {
			return errors.New("gocloud hands out no list request")
		}
		if after != "" && in.ContinuationToken == nil {
			in.StartAfter = aws.String(after)
		}
		return nil
	}}
	var found []Object
	for token := blob.FirstPageToken; len(token) > 0 && len(found) < limit; {
		page, next, err := b.bucket.ListPage(bounded, token, min(limit-len(found), 1000), opts)
		if err != nil {
			return nil, b.translate(ctx, err)
		}
		for _, o := range page {
			if checkKey(o.Key) == nil { // not the marker of a folder that a console made
				found = append(found, Object{Key: o.Key, Size: o.Size, ModTime: o.ModTime})
			}
		}
		token = next
	}
	return found, nil
}

func (b *bucket) ping(ctx context.Context) error {
	_, err := b.list(ctx, "", "", 1)
	return err
}

func (b *bucket) close() error {
	if err := b.bucket.Close(); err != nil {
		return fmt.Errorf("close bucket: %w", err)
	}
	return nil
}
