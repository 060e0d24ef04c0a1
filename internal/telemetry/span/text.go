package span

// SearchText is the text that is new in this span, without the syntax around it.
// It is good until the next call.
func (r *Record) SearchText() []byte {
	if len(r.Input)+len(r.Output) == 0 {
		return nil
	}
	return r.meaning().shown.Search(r.Input, r.Output)
}

// InputPreview is the beginning of what the last user wrote, or else of the
// input. It is good until the next call.
func (r *Record) InputPreview() []byte {
	if len(r.Input) == 0 {
		return nil
	}
	return r.meaning().shown.InputPreview(r.Input)
}

// OutputPreview is the beginning of the output's text. It is good until the
// next call.
func (r *Record) OutputPreview() []byte {
	if len(r.Output) == 0 {
		return nil
	}
	return r.meaning().shown.OutputPreview(r.Output)
}
