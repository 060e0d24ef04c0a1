package kind

// Type says what a field holds.
type Type int

// The types.
const (
	Text    Type = iota
	Enum         // one of Field.Enum
	Integer      // from 0
	Number
	Boolean
	Time
	Digest  // sha256: and 64 hexadecimal digits
	Ref     // the id of a record of the kind Field.Of names
	Texts   // a list of texts
	Object  // an object with the members of Field.Members, and others
	Objects // a list of such objects
	Any     // any JSON value
)

// Field is a field of a record.
type Field struct {
	Name string
	Type Type
	Doc  string
	// Required must be sent, unless the report is partial.
	Required bool
	// Server fields are set by the platform; what a caller sends is ignored.
	Server bool
	// Volatile fields change without an entry in the audit log.
	Volatile bool
	// Max is the length of a text; 0 means maxText.
	Max     int
	Enum    []string
	Of      Name
	Members []Field
}

const (
	maxText = 10_000
	maxName = 256
	maxList = 1_000
)

// Common are the fields of every record.
var Common = []Field{
	{Name: "id", Type: Integer, Server: true, Doc: "Id of the record, unique among all kinds."},
	{Name: "resource", Type: Text, Server: true, Doc: "Kind of the record."},
	{Name: "idempotency_key", Type: Text, Max: 255, Doc: "Name that the sender gave the record; sending it again with the same content has no effect."},
	{Name: "origin", Type: Enum, Server: true, Enum: []string{"platform", "ingested", "reported"}, Doc: "Who says so: the platform itself, telemetry that was normalized, or a client."},
	{Name: "occurred_at", Type: Time, Doc: "When it happened; by default, when it was received."},
	{Name: "created_at", Type: Time, Server: true, Doc: "When the record was made."},
	{Name: "updated_at", Type: Time, Server: true, Doc: "When the record last changed."},
	{Name: "runtime_id", Type: Ref, Of: "runtimes", Doc: "Runtime that acted."},
	{Name: "runtime_key", Type: Text, Max: maxName, Doc: "Key of the runtime; one that is not known is added."},
	{Name: "connector_id", Type: Ref, Of: "connectors", Doc: "Connector that was used."},
	{Name: "connector_key", Type: Text, Max: maxName, Doc: "Key of the connector; one that is not known is added."},
	{Name: "trace_id", Type: Any, Doc: "Number of the trace. A request may also give its 32 hexadecimal digits."},
	{Name: "otel_trace_id", Type: Text, Max: 32, Doc: "W3C id of the trace, 32 hexadecimal digits."},
	{Name: "span_id", Type: Text, Max: 16, Doc: "Span of the trace, 16 hexadecimal digits."},
	{Name: "conversation_id", Type: Text, Max: maxName, Doc: "Conversation that it belongs to."},
	{Name: "evaluation_run_id", Type: Integer, Doc: "Evaluation run that it belongs to."},
	{Name: "raw_event_id", Type: Integer, Server: true, Doc: "Event that the record was normalized from."},
	{Name: "actor", Type: Object, Server: true, Doc: "Who sent it."},
	{Name: "subject_user", Type: Text, Max: maxName, Doc: "End user on whose behalf the agent acted."},
	{Name: "delegation", Type: Object, Doc: "By whom and to whom authority was delegated.", Members: []Field{
		{Name: "principal", Type: Text, Max: maxName},
		{Name: "delegate", Type: Text, Max: maxName},
		{Name: "scopes", Type: Texts},
		{Name: "expires_at", Type: Time},
	}},
	{Name: "attributes", Type: Object, Doc: "Whatever else was sent."},
	{Name: "redactions", Type: Objects, Server: true, Doc: "Fields in which something was redacted.", Members: []Field{{Name: "path", Type: Text}, {Name: "rule", Type: Text}}},
	{Name: "integrity", Type: Object, Server: true, Doc: "What the record can be checked against.", Members: []Field{{Name: "digest", Type: Digest}}},
	{Name: "version", Type: Integer, Server: true, Doc: "Counts changes of the record; see If-Match."},
}
