package httpapi

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/assayhq/assay/internal/principal"
	"github.com/assayhq/assay/internal/request"
)

// RunRPC serves every operation that has an RPC until ctx ends, then finishes
// what it accepted: new calls are refused after DrainDelay, and calls in flight
// have ShutdownTimeout to end. What has not ended by then is cut off.
func (e *Edge) RunRPC(ctx context.Context, l net.Listener) error {
	srv := e.newRPCServer()
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		e.draining.on.Store(true)
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opts.Config.ShutdownTimeout)
		defer cancel()
		select {
		case <-time.After(e.opts.Config.DrainDelay):
		case <-limit.Done():
		}
		done <- stopRPC(limit, srv)
	}()
	if err := srv.Serve(l); err != nil {
		return err
	}
	return <-done
}

// stopRPC waits for calls in flight, until ctx ends.
func stopRPC(ctx context.Context, srv *grpc.Server) error {
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

// newRPCServer builds the server out of the route table.
func (e *Edge) newRPCServer() *grpc.Server {
	limit := int64(0)
	services := map[string]*grpc.ServiceDesc{}
	for _, o := range e.raws {
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
		services[service].Streams = append(services[service].Streams, grpc.StreamDesc{StreamName: method, Handler: e.rpcHandler(o)})
	}
	srv := grpc.NewServer(
		grpc.ForceServerCodecV2(rawCodec{}),
		grpc.RPCDecompressor(passThrough{}), //nolint:staticcheck // the successor is for the whole process, and decompresses before a caller's account can be asked
		grpc.MaxRecvMsgSize(int(limit)+1),   // and the mark of passThrough
		grpc.MaxHeaderListSize(32<<10),
		grpc.MaxConcurrentStreams(100), // for each connection; exporters use a handful
		grpc.ConnectionTimeout(10*time.Second),
		grpc.InTapHandle(e.boundRPC),
		grpc.UnknownServiceHandler(e.rpcHandler(nil)),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle:     15 * time.Minute,
			MaxConnectionAge:      30 * time.Minute, // long-lived connections would never find a new replica
			MaxConnectionAgeGrace: e.opts.Config.RequestTimeout,
			Time:                  time.Minute,
			Timeout:               20 * time.Second,
		}),
		// Collectors commonly ping every 10 seconds, also between exports.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	)
	for _, s := range services {
		srv.RegisterService(s, nil)
	}
	return srv
}

type rpcCancelKey struct{}

// boundRPC gives a call its time before its message is read, so that a caller
// that sends nothing does not hold a stream.
func (e *Edge) boundRPC(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Config.RequestTimeout)
	return context.WithValue(ctx, rpcCancelKey{}, cancel), nil
}

// rpcHandler serves an operation; without one it refuses a recognised caller
// as it would a route that does not exist.
func (e *Edge) rpcHandler(o *rawOp) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) (err error) {
		defer rescue(stream.Context(), &err) // of the edge itself: nothing outside would stop it
		return e.serveRPC(o, stream)
	}
}

// serveRPC does for a call what the chain of the router does for a request.
func (e *Edge) serveRPC(o *rawOp, stream grpc.ServerStream) error {
	start := time.Now()
	ctx := stream.Context()
	if cancel, ok := ctx.Value(rpcCancelKey{}).(context.CancelFunc); ok {
		defer cancel()
	}
	info := rpcInfo(ctx, o)
	_ = stream.SetHeader(metadata.Pairs("x-request-id", info.ID)) // also for refusals that the server writes itself
	ctx = otel.GetTextMapPropagator().Extract(request.With(ctx, info), carrier{ctx})
	ctx, span := tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()

	seen := &recognised{}
	res, err := e.receiveRPC(ctx, o, stream, seen)
	var code int
	if err == nil {
		code, err = o.Status, reply(stream, info, res)
	} else {
		f := explain(ctx, err)
		code, err = statuses[f.Kind], status.FromProto(rpcStatus(f, info.ID)).Err()
		_ = stream.SetHeader(asMetadata(info.Header))
	}
	e.report(ctx, seen, code, time.Since(start))
	return err
}

// receiveRPC checks in the order of the interface and calls the handler.
func (e *Edge) receiveRPC(ctx context.Context, o *rawOp, stream grpc.ServerStream, seen *recognised) (res *RawResponse, err error) {
	defer rescue(ctx, &err)
	token, err := bearer(metadata.ValueFromIncomingContext(ctx, "authorization"))
	if err != nil {
		return nil, err
	}
	caller, err := e.opts.Authenticate(ctx, token)
	if err != nil {
		return nil, err
	}
	seen.caller = &caller
	if o == nil || !o.Metered {
		if err := e.spend(ctx, request.From(ctx).Header, caller); err != nil {
			return nil, err
		}
	}
	if o == nil {
		return nil, errRPC
	}
	ctx, err = e.authorize(principal.With(ctx, caller), o.Op, sent(ctx, "x-on-behalf-of"))
	if err != nil {
		return nil, err
	}
	in, err := o.admit(ctx, -1) // the length stands before the message, where only the server reads
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := stream.RecvMsg(&in.message); err != nil {
		return nil, unreceived(err, o.BodyLimit)
	}
	if err := in.readMessage(); err != nil {
		return nil, err
	}
	in.req.ContentType = mediaProtobuf
	return o.call(ctx, in)
}

// unreceived is the fault behind a message that the server refused and, at the
// same time, answered.
func unreceived(err error, limit int64) error {
	switch status.Code(err) {
	case codes.ResourceExhausted:
		return errTooLarge.With("limitBytes", limit)
	case codes.DeadlineExceeded, codes.Canceled:
		return context.Canceled
	}
	return errBodyCut
}

// reply sends what the handler returned.
func reply(stream grpc.ServerStream, info *request.Info, res *RawResponse) error {
	for name, value := range res.Header {
		info.Header.Set(name, value)
	}
	if len(info.Header) > 0 {
		_ = stream.SetHeader(asMetadata(info.Header))
	}
	return stream.SendMsg(res.Body)
}

// rpcInfo describes a call as the request that it stands for.
func rpcInfo(ctx context.Context, o *rawOp) *request.Info {
	info := &request.Info{ID: requestID(sent(ctx, "x-request-id")), Method: http.MethodPost, Header: http.Header{}}
	if o != nil {
		info.Operation, info.Path = o.ID, o.Path
	}
	if p, ok := peer.FromContext(ctx); ok {
		info.IP = host(p.Addr.String())
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
