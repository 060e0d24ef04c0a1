package otlp

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/httpapi/shape"
)

// errMethod is for a caller of an RPC that no operation has.
var errMethod = fault.New(fault.MethodNotAllowed, "method_not_allowed", "This method does not exist. See x-grpc-method in /api/openapi.json for the methods.")

// Run serves the operations of the edge that have an RPC until ctx ends, then
// finishes what it accepted: new calls are refused after DrainDelay, and calls in flight
// have ShutdownTimeout to end. What has not ended by then is cut off.
func Run(ctx context.Context, e *httpapi.Edge, l net.Listener) error {
	srv := (&server{edge: e}).build()
	done := make(chan error, 1)
	go func() {
		limit, cancel := e.Drain(ctx)
		defer cancel()
		done <- stop(limit, srv)
	}()
	if err := srv.Serve(l); err != nil {
		return err
	}
	return <-done
}

// stop waits for calls in flight, until ctx ends.
func stop(ctx context.Context, srv *grpc.Server) error {
	stopped := make(chan struct{})
	go func() {
		srv.GracefulStop()
		close(stopped)
	}()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		srv.Stop()
		return ctx.Err()
	}
}

// server serves an edge's operations as RPCs.
type server struct {
	edge     *httpapi.Edge
	receives receives
}

// build makes the server of the library out of the route table.
func (s *server) build() *grpc.Server {
	limit := int64(0)
	services := map[string]*grpc.ServiceDesc{}
	for _, o := range registered(s.edge) {
		service, method, ok := strings.Cut(o.RPC, "/")
		if !ok {
			continue
		}
		limit = max(limit, o.BodyLimit)
		if services[service] == nil {
			services[service] = &grpc.ServiceDesc{ServiceName: service}
		}
		// A unary method is a stream of one message. As a stream its handler
		// runs before the message is read, so a caller is recognised before
		// any memory is spent on it.
		services[service].Streams = append(services[service].Streams, grpc.StreamDesc{StreamName: method, Handler: s.handler(o)})
	}
	srv := grpc.NewServer(
		grpc.ForceServerCodecV2(rawCodec{}),
		grpc.RPCDecompressor(passThrough{}), //nolint:staticcheck // the successor is for the whole process, and decompresses before a caller's account can be asked
		grpc.MaxRecvMsgSize(int(limit)+1),   // and the mark of passThrough
		grpc.MaxHeaderListSize(32<<10),
		grpc.MaxConcurrentStreams(100), // for each connection; exporters use a handful
		grpc.ConnectionTimeout(10*time.Second),
		grpc.InTapHandle(s.bound),
		grpc.UnknownServiceHandler(s.handler(nil)),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle:     15 * time.Minute,
			MaxConnectionAge:      30 * time.Minute, // long-lived connections would never find a new replica
			MaxConnectionAgeGrace: s.edge.RequestTimeout(),
			Time:                  time.Minute,
			Timeout:               20 * time.Second,
		}),
		// Collectors commonly ping every 10 seconds, also between exports.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	)
	for _, service := range services {
		srv.RegisterService(service, nil)
	}
	return srv
}

type cancelKey struct{}

// bound gives a call its time before its message is read, so that a caller
// that sends nothing does not hold a stream.
func (s *server) bound(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, s.edge.RequestTimeout())
	return context.WithValue(ctx, cancelKey{}, cancel), nil
}

// handler serves an operation; without one it refuses a recognised caller
// as it would a route that does not exist.
func (s *server) handler(o *operation) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) (err error) {
		defer httpapi.Rescue(stream.Context(), &err) // a panic outside the operation: nothing else would stop it
		return s.serve(o, stream)
	}
}

// serve does for a call what the chain of the router does for a request.
func (s *server) serve(o *operation, stream grpc.ServerStream) error {
	ctx := stream.Context()
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		defer cancel()
	}
	info := s.describe(ctx, o)
	_ = stream.SetHeader(metadata.Pairs("x-request-id", info.ID)) // also for refusals that the server writes itself
	ctx, report := s.edge.Measure(request.With(ctx, info), carrier{ctx})
	answered := http.StatusInternalServerError // what a panic stands for
	defer func() { report(answered) }()
	res, refusal := s.receive(ctx, o, stream)
	if refusal == nil {
		answered = o.Status
		return reply(stream, info, res)
	}
	refused := explain(ctx, refusal)
	answered = refused.Status
	_ = stream.SetHeader(asMetadata(info.Header))
	return status.FromProto(rpcStatus(refused)).Err()
}

// receive checks in the order of the interface and calls the handler.
func (s *server) receive(ctx context.Context, o *operation, stream grpc.ServerStream) (res *Response, err error) {
	defer httpapi.Rescue(ctx, &err)
	ctx, err = s.edge.Authenticate(ctx, metadata.ValueFromIncomingContext(ctx, "authorization"), o != nil && o.Metered)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errMethod
	}
	ctx, err = s.edge.Authorize(ctx, o.Op.Op, sent(ctx, "x-on-behalf-of"))
	if err != nil {
		return nil, err
	}
	ctx, done := s.edge.Admit(ctx)
	defer done()
	in := o.newIntake(ctx)
	defer in.close()
	if err := s.read(ctx, o, stream, in); err != nil {
		return nil, err
	}
	in.req.ContentType = mediaProtobuf
	return o.call(ctx, in)
}

// read receives the message, and decompresses it, when its turn has come.
func (s *server) read(ctx context.Context, o *operation, stream grpc.ServerStream, in *intake) error {
	org := principal.From(ctx).Org
	if err := s.receives.enter(ctx, org); err != nil {
		return err
	}
	defer s.receives.leave(org)
	if err := stream.RecvMsg(&in.message); err != nil {
		return unreceived(err, o.BodyLimit)
	}
	return in.readMessage()
}

// unreceived is the fault behind a message that the server refused and, at the
// same time, answered.
func unreceived(err error, limit int64) error {
	switch status.Code(err) {
	case codes.ResourceExhausted:
		return httpapi.TooLarge(limit)
	case codes.DeadlineExceeded, codes.Canceled:
		return context.Canceled
	}
	return shape.ErrCut
}

// reply sends what the handler returned.
func reply(stream grpc.ServerStream, info *request.Info, res *Response) error {
	for name, value := range res.Header {
		info.Header.Set(name, value)
	}
	if len(info.Header) > 0 {
		_ = stream.SetHeader(asMetadata(info.Header))
	}
	return stream.SendMsg(res.Body)
}

// describe describes a call as the request that it stands for.
func (s *server) describe(ctx context.Context, o *operation) *request.Info {
	address := ""
	if p, ok := peer.FromContext(ctx); ok {
		address = p.Addr.String()
	}
	info := s.edge.NewInfo(sent(ctx, "x-request-id"), address, metadata.ValueFromIncomingContext(ctx, "x-forwarded-for"), http.Header{})
	info.Method = http.MethodPost
	if o != nil {
		info.Operation, info.Path = o.ID, o.Path
	}
	return info
}

// sent is the first value of a caller's metadata, or "".
func sent(ctx context.Context, name string) string {
	if values := metadata.ValueFromIncomingContext(ctx, name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// asMetadata is response headers as an RPC sends them.
func asMetadata(h http.Header) metadata.MD {
	md := make(metadata.MD, len(h))
	for name, values := range h {
		md[strings.ToLower(name)] = values
	}
	return md
}

// carrier lets the propagator read the trace that a call belongs to.
type carrier struct{ ctx context.Context }

func (c carrier) Get(name string) string { return sent(c.ctx, name) }
func (carrier) Set(string, string)       {}
func (carrier) Keys() []string           { return nil }
