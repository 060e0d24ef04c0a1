package progress

import "github.com/assayhq/assay/internal/httpapi"

// NoteBody is a note on the wire.
type NoteBody struct {
	At      httpapi.Time `json:"at" doc:"When it happened."`
	Level   string       `json:"level" enum:"info,warning,error" doc:"Severity."`
	Message string       `json:"message" doc:"What happened."`
}

// Body is the note on the wire.
func (n Note) Body() NoteBody {
	return NoteBody{At: httpapi.Time(n.At), Level: n.Level, Message: n.Message}
}
