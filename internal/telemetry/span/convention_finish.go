package span

import "bytes"

// liftResource reads an attribute of the resource.
func (r *Record) liftResource(key []byte, v *value) {
	if v.kind != valueText || len(v.text) == 0 || len(v.text) > maxLabel {
		return
	}
	switch string(key) {
	case "service.name":
		r.Service = v.text
	case "deployment.environment":
		r.resourceFact(keptEnvironment, &r.Environment, fromAnybody, v.text)
	case "deployment.environment.name":
		r.resourceFact(keptEnvironment, &r.Environment, fromGenAI, v.text)
	case "langfuse.environment":
		r.resourceFact(keptEnvironment, &r.Environment, fromLangfuse, v.text)
	case "assay.environment":
		r.resourceFact(keptEnvironment, &r.Environment, fromAssay, v.text)
	case "service.version":
		r.resourceFact(keptRelease, &r.Release, fromAnybody, v.text)
	case "langfuse.release":
		r.resourceFact(keptRelease, &r.Release, fromLangfuse, v.text)
	case "assay.release_id":
		r.resourceFact(keptRelease, &r.Release, fromAssay, v.text)
	}
}

// resourceFact keeps a fact of the resource that no better source has given. A
// new resource begins with empty facts.
func (r *Record) resourceFact(which int, to *[]byte, from source, text []byte) {
	o := &r.meaning().kept[which]
	if *to == nil || o.source < from {
		*to, *o = text, override{source: from}
	}
}

// The facts of a resource that a span may tell otherwise.
const (
	keptEnvironment = iota
	keptRelease
	keptFacts
)

// override is a fact of the resource for which one span gave another value. The record
// keeps the facts of the resource from span to span, so the next span has to
// bring back what was there.
type override struct {
	span, resource []byte
	source         source // how well the resource's own teller is believed
}

func (o *override) apply(field *[]byte, span []byte) {
	if len(o.span) > 0 && len(*field) == len(o.span) && &(*field)[0] == &o.span[0] {
		*field = o.resource
	}
	o.span, o.resource = span, nil
	if len(span) > 0 {
		o.resource, *field = *field, span
	}
}

// finish settles what only the whole span shows.
func (r *Record) finish() {
	k := r.convention.meaning
	if k == nil {
		return
	}
	k.kept[keptEnvironment].apply(&r.Environment, k.environment)
	k.kept[keptRelease].apply(&r.Release, k.release)
	if !k.used {
		return
	}
	if k.found || len(k.parts) > 0 {
		k.found = true
		r.finishPayloads(k)
	}
	r.finishNames(k)
	r.keepOutdone(k)
	r.finishMetadata(k)
	r.finishTokens(k)
	if k.sources[factCost] == noSource && k.promptCost+k.answerCost > 0 {
		r.Cost, r.CostSent = k.promptCost+k.answerCost, true
	}
	if k.sources[factFirstToken] == noSource && k.firstTokenAt > r.Start && r.Start > 0 {
		r.FirstToken = uint32(min(k.firstTokenAt-r.Start, 1<<32-1))
	}
}

// finishPayloads writes the lists and picks the best form of each payload.
func (r *Record) finishPayloads(k *meaning) {
	if len(k.parts) > 0 {
		k.sortParts()
		r.finishMessages(k, listInput, &k.input, keyInputMessages, "user")
		r.finishMessages(k, listOutput, &k.output, keyOutputMessages, "assistant")
		r.finishList(k, listTools, &k.tools, formFlat, "")
		r.finishList(k, listDocuments, &k.output, formFlat, "")
		r.finishList(k, listRerankOutput, &k.output, formFlat, "")
		r.finishEmbeddings(k)
		r.finishRerank(k)
		r.finishList(k, listEventInput, &k.input, formEvents, "user")
		r.finishList(k, listEventOutput, &k.output, formEvents, "assistant")
	} else if k.query.form != absent && k.input.form < k.query.form {
		k.input = k.query
	}
	r.finishReply(k)
	r.spare(&k.input, &k.parameters)
	r.spare(&k.input, &k.traceInput)
	r.spare(&k.output, &k.traceOutput)
	r.finishResult(k)
	setUnlessGiven(&r.Input, &k.input)
	setUnlessGiven(&r.Output, &k.output)
	setUnlessGiven(&r.System, &k.system)
	setUnlessGiven(&r.Tools, &k.tools)
}

// setUnlessGiven keeps a payload unless the record has been given one.
func setUnlessGiven(to *[]byte, p *candidate) {
	if len(*to) == 0 && p.form != absent {
		*to = p.text
	}
}

// spare uses a payload if there is no other; otherwise it stays an attribute.
func (r *Record) spare(p, other *candidate) {
	switch {
	case other.form == absent:
	case p.form == absent:
		*p = *other
	default:
		r.keepCandidate(other)
	}
}

// finishMessages makes a payload of flattened messages, unless the step has a
// better one: a whole value says more than messages without content, and more
// about a step that is not a call of a model. Such a value that holds messages
// itself repeats them.
func (r *Record) finishMessages(k *meaning, l list, p *candidate, key []byte, role string) {
	parts := k.partsOf(l)
	if len(parts) == 0 || p.form >= formFlat {
		return
	}
	spoken := k.spoken(parts)
	if p.form == formWhole && (!spoken || !r.speaks()) {
		if spoken && !k.shown.HasMessages(p.text) {
			b := k.appendElements(r.scratch.open(), parts, role)
			k.outdo(candidate{key: key, text: r.scratch.close(b), json: true, form: formFlat})
		}
		return
	}
	k.outdo(*p)
	r.finishList(k, l, p, formFlat, role)
}

var keyInputMessages, keyOutputMessages = []byte("llm.input_messages"), []byte("llm.output_messages")

// speaks reports whether messages are what the step is about.
func (r *Record) speaks() bool { return r.Primitive == "" || r.Primitive == primitiveModelCall }

// spoken reports whether messages have any content.
func (k *meaning) spoken(parts []part) bool {
	for _, p := range parts {
		switch p.field() {
		case fieldRole, fieldName, fieldID, fieldType, fieldFinish:
			if p.group() == groupCalls || p.group() == groupFunction {
				return true
			}
		default:
			if len(k.texts[p.text()].text) > 0 {
				return true
			}
		}
	}
	return false
}

// finishResult keeps what an agent returned. The name of the attribute is too
// common to mean that on any other step.
func (r *Record) finishResult(k *meaning) {
	if k.result.form == absent {
		return
	}
	if r.Primitive == primitiveAgent {
		r.spare(&k.output, &k.result)
		return
	}
	r.keepCandidate(&k.result)
}

// keepOutdone makes attributes of payloads for which the step has better ones,
// unless they repeat each other: the requests and responses of models,
// embeddings and searches are the same in every form.
func (r *Record) keepOutdone(k *meaning) {
	if k.outdones == 0 {
		return
	}
	switch r.Primitive {
	case primitiveModelCall, primitiveEmbedding, primitiveRetrieval, primitiveRerank:
		return
	}
	for i := range k.outdones {
		if c := &k.outdone[i]; !bytes.Equal(c.text, r.Input) && !bytes.Equal(c.text, r.Output) {
			r.keepCandidate(c)
		}
	}
}

// keepCandidate makes an attribute of a payload that is not used.
func (r *Record) keepCandidate(c *candidate) {
	if len(r.Attributes) < maxAttributes && len(c.key) > 0 {
		r.Attributes = append(r.Attributes, Attribute{Key: c.key, Value: c.text, JSON: c.json})
	}
}

func (r *Record) finishList(k *meaning, l list, p *candidate, how form, role string) {
	if p.form >= how {
		return
	}
	if parts := k.partsOf(l); len(parts) > 0 {
		b := k.appendElements(r.scratch.open(), parts, role)
		*p = candidate{text: r.scratch.close(b), json: true, form: how}
	}
}

// finishEmbeddings makes the texts the input and the vectors the output.
func (r *Record) finishEmbeddings(k *meaning) {
	parts := k.partsOf(listEmbeddings)
	if len(parts) == 0 {
		return
	}
	b := append(r.scratch.open(), '[')
	for _, p := range parts {
		if p.field() == fieldText {
			b = append(k.texts[p.text()].append(b), ',')
		}
	}
	if len(b) > 1 && k.input.form < formFlat {
		b[len(b)-1] = ']'
		k.input = candidate{text: r.scratch.close(b), json: true, form: formFlat}
	}
	b = append(r.scratch.open(), '[')
	for _, p := range parts {
		if p.field() == fieldVector {
			b = append(k.texts[p.text()].append(append(b, `{"vector":`...)), '}', ',')
		}
	}
	if len(b) > 1 && k.output.form < formFlat {
		b[len(b)-1] = ']'
		k.output = candidate{text: r.scratch.close(b), json: true, form: formFlat}
	}
}

// finishRerank makes the question and the documents one input.
func (r *Record) finishRerank(k *meaning) {
	parts := k.partsOf(listRerankInput)
	if k.input.form >= formFlat {
		return
	}
	if len(parts) == 0 {
		if k.query.form != absent {
			k.input = k.query
		}
		return
	}
	b := append(r.scratch.open(), '{')
	if k.query.form != absent {
		b = append(appendPayload(append(b, `"query":`...), &k.query), ',')
	}
	b = k.appendElements(append(b, `"documents":`...), parts, "")
	k.input = candidate{text: r.scratch.close(append(b, '}')), json: true, form: formFlat}
}

// finishReply makes one answer of what the AI SDK sends apart.
func (r *Record) finishReply(k *meaning) {
	how := max(k.replyText.form, k.replyCalls.form)
	switch {
	case k.output.form >= max(how, k.replyObject.form):
	case how != absent:
		b := appendReply(r.scratch.open(), &k.replyText, &k.replyCalls)
		k.output = candidate{text: r.scratch.close(b), json: true, form: how}
	default:
		k.output = k.replyObject
	}
}

// finishNames settles who did what.
func (r *Record) finishNames(k *meaning) {
	if len(r.Model) == 0 {
		r.Model = k.requestModel
	}
	if len(r.Provider) > 0 {
		r.Provider = providerName(r.Provider)
	} else if len(r.Model) > 0 {
		r.Provider = providerOfModel(r.Model)
	}
	if r.Primitive == "" {
		r.Primitive = r.guessStep(k)
	} else if r.Primitive == primitiveModelCall && bytes.HasSuffix(r.Name, preparation) {
		r.Primitive = ""
	}
	switch r.Primitive {
	case primitiveToolCall:
		if len(r.Tool) == 0 {
			r.Tool = firstOf(k.entity, afterWord(r.Name, "execute_tool "), afterWord(r.Name, "tools/call "), afterWord(r.Name, "MCP send tools/call "), r.Name)
		}
	case primitiveWorkflow:
		if len(k.function) > 0 {
			r.Name = k.function
		}
	case primitiveAgent:
		if len(r.Agent) == 0 {
			r.Agent = firstOf(k.entity, k.node, afterWord(r.Name, "invoke_agent "), afterWord(r.Name, "create_agent "))
		}
		if len(r.Agent) == 0 && (r.ParentID != ID{} || r.HasPayload() || k.sources[factPrimitive] != fromOpenInference) {
			// OpenInference names a root that says nothing else after the workflow.
			r.Agent = r.Name
		}
	}
}

// preparation ends the name of the span in which LlamaIndex makes ready what it
// then asks a model; OpenInference calls both a call of the model.
var preparation = []byte("._prepare_chat_with_tools")

// guessStep tells the kind of a step from what it carries, for spans of
// libraries that do not say.
func (r *Record) guessStep(k *meaning) string {
	if first, _, ok := bytes.Cut(r.Name, []byte(" ")); ok {
		switch string(first) {
		case "execute_tool", "invoke_agent", "create_agent", "invoke_workflow", "embeddings":
			return operation(first)
		}
	}
	switch {
	case len(r.Model) > 0 && (r.InputTokens+r.OutputTokens > 0 || k.input.form != absent || k.output.form != absent || len(r.Provider) > 0):
		return primitiveModelCall
	case len(r.Tool) > 0:
		return primitiveToolCall
	case len(k.partsOf(listDocuments)) > 0:
		return primitiveRetrieval
	default:
		return ""
	}
}

// afterWord is what follows a prefix, or nothing.
func afterWord(name []byte, word string) []byte {
	if hasPrefix(name, word) {
		return name[len(word):]
	}
	return nil
}

func firstOf(names ...[]byte) []byte {
	for _, n := range names {
		if len(n) > 0 {
			return n
		}
	}
	return nil
}

// finishTokens fills in a count that a total and the other count tell. The
// input holds what was read from and written to a cache; a sender that counts
// those apart is recognised when they are more than the input.
func (r *Record) finishTokens(k *meaning) {
	if total := k.totalTokens; total > 0 {
		switch {
		case k.sources[factInputTokens] == noSource:
			r.InputTokens = total - min(total, r.OutputTokens)
		case k.sources[factOutputTokens] == noSource:
			r.OutputTokens = total - min(total, r.InputTokens)
		}
	}
	if cache := uint64(r.CachedTokens) + uint64(r.CacheWriteTokens); cache > uint64(r.InputTokens) {
		r.InputTokens = uint32(min(uint64(r.InputTokens)+cache, 1<<32-1))
	}
}
