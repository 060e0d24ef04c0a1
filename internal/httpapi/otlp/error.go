package otlp

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/request"
	"github.com/assayhq/assay/internal/httpapi"
)

// rpcCodes is the one place where a kind of fault becomes a code of gRPC.
// Exporters of the OpenTelemetry protocol repeat what is Unavailable, and what
// is ResourceExhausted if the answer says when; they drop the rest.
var rpcCodes = map[fault.Kind]codes.Code{
	fault.Validation:           codes.InvalidArgument,
	fault.Unauthorized:         codes.Unauthenticated,
	fault.Forbidden:            codes.PermissionDenied,
	fault.NotFound:             codes.NotFound,
	fault.MethodNotAllowed:     codes.Unimplemented,
	fault.Conflict:             codes.FailedPrecondition,
	fault.PayloadTooLarge:      codes.ResourceExhausted,
	fault.UnsupportedMediaType: codes.InvalidArgument,
	fault.RateLimited:          codes.ResourceExhausted,
	fault.Internal:             codes.Internal,
	fault.Unavailable:          codes.Unavailable,
}

// envelope is the body of an error, in JSON: the envelope of every error, and
// the fields that clients of the OpenTelemetry protocol read.
type envelope struct {
	Body    httpapi.ErrorBody `json:"error" doc:"What went wrong."`
	Code    int               `json:"code" minimum:"1" maximum:"16" doc:"The gRPC status code."`
	Message string            `json:"message" doc:"Equal to error.message."`
}

// explain is what the caller sees of an error. Exporters drop what is refused and
// few of them say so, so a line in the log tells why a trace is missing.
func explain(ctx context.Context, err error) httpapi.Refusal {
	refused := httpapi.Explain(ctx, err)
	if refused.Status < http.StatusInternalServerError {
		info := request.From(ctx)
		slog.WarnContext(ctx, "telemetry refused", "request_id", info.ID, "operation", info.Operation,
			"status", refused.Status, "reason", refused.Fault.Reason, "error", err)
	}
	return refused
}

// writeError answers in the encoding of the request.
func writeError(w http.ResponseWriter, r *http.Request, media string, err error) {
	refused := explain(r.Context(), err)
	if media == mediaProtobuf {
		if body, err := proto.Marshal(rpcStatus(refused)); err == nil {
			w.Header().Set("Content-Type", mediaProtobuf)
			w.WriteHeader(refused.Status)
			_, _ = w.Write(body) //nolint:gosec // a message whose type no browser shows
			return
		}
	}
	w.Header().Set("Content-Type", mediaJSON)
	w.WriteHeader(refused.Status)
	_ = json.MarshalWrite(w, envelope{Body: refused.Body, Code: int(rpcCodes[refused.Fault.Kind]), Message: refused.Body.Message})
}

// rpcStatus is a refusal as google.rpc.Status. Its details name the reason and
// the request, and say when to repeat the request if that can help.
func rpcStatus(refused httpapi.Refusal) *spb.Status {
	f := refused.Fault
	code, ok := rpcCodes[f.Kind]
	if !ok {
		code = codes.Internal
	}
	details := []proto.Message{&errdetails.ErrorInfo{Reason: f.Reason, Domain: "assay", Metadata: map[string]string{"requestId": refused.Body.RequestID}}}
	if wait, ok := refused.RetryAfter(); ok {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
	}
	s := &spb.Status{Code: int32(code), Message: shortened(f.Error())}
	for _, d := range details {
		if packed, err := anypb.New(d); err == nil {
			s.Details = append(s.Details, packed)
		}
	}
	return s
}

// shortened keeps a message well below what clients take in the headers of an
// RPC, 8 KiB in all, which carry it escaped.
func shortened(text string) string {
	const limit = 1 << 10
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	end := limit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
