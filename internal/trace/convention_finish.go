package trace

import "bytes"

// liftResource reads an attribute of the resource.
func (r *row) liftResource(key []byte, v *value) {
	if v.kind != valueText || len(v.text) == 0 || len(v.text) > maxLabel {
		return
	}
	switch string(key) {
	case "service.name":
		r.service = v.text
	case "deployment.environment":
		r.resourceFact(keptEnvironment, &r.environment, anybody, v.text)
	case "deployment.environment.name":
		r.resourceFact(keptEnvironment, &r.environment, fromGenAI, v.text)
	case "langfuse.environment":
		r.resourceFact(keptEnvironment, &r.environment, fromLangfuse, v.text)
	case "assay.environment":
		r.resourceFact(keptEnvironment, &r.environment, fromAssay, v.text)
	case "service.version":
		r.resourceFact(keptRelease, &r.release, anybody, v.text)
	case "langfuse.release":
		r.resourceFact(keptRelease, &r.release, fromLangfuse, v.text)
	case "assay.release_id":
		r.resourceFact(keptRelease, &r.release, fromAssay, v.text)
	}
}

// resourceFact keeps a fact of the resource that no better source has told. A
// new resource begins with empty facts.
func (r *row) resourceFact(which int, to *[]byte, from source, text []byte) {
	o := &r.know().kept[which]
	if *to == nil || o.told < from {
		*to, *o = text, override{told: from}
	}
}

// The facts of a resource that a span may tell otherwise.
const (
	keptEnvironment = iota
	keptRelease
	keptFacts
)

// override is a fact of the resource that one span told otherwise. The row
// keeps the facts of the resource from span to span, so the next span has to
// bring back what was there.
type override struct {
	span, resource []byte
	told           source // how well the resource's own teller is believed
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

// finish settles what only the whole span tells.
func (r *row) finish() {
	k := r.convention.known
	if k == nil {
		return
	}
	k.kept[keptEnvironment].apply(&r.environment, k.environment)
	k.kept[keptRelease].apply(&r.release, k.release)
	if !k.used {
		return
	}
	if k.said || len(k.parts) > 0 {
		k.said = true
		r.finishPayloads(k)
	}
	r.finishNames(k)
	r.finishTokens(k)
	if k.told[factCost] == nobody && k.promptCost+k.answerCost > 0 {
		r.cost, r.costSent = k.promptCost+k.answerCost, true
	}
	if k.told[factFirstToken] == nobody && k.firstTokenAt > r.start && r.start > 0 {
		r.firstToken = uint32(min(k.firstTokenAt-r.start, 1<<32-1))
	}
}

// finishPayloads writes the lists and picks the best form of each payload.
func (r *row) finishPayloads(k *known) {
	if len(k.parts) > 0 {
		k.sortParts()
		r.finishList(k, listInput, &k.input, saidFlat, "user")
		r.finishList(k, listOutput, &k.output, saidFlat, "assistant")
		r.finishList(k, listTools, &k.tools, saidFlat, "")
		r.finishList(k, listDocuments, &k.output, saidFlat, "")
		r.finishList(k, listRerankOutput, &k.output, saidFlat, "")
		r.finishEmbeddings(k)
		r.finishRerank(k)
		r.finishList(k, listEventInput, &k.input, saidByEvents, "user")
		r.finishList(k, listEventOutput, &k.output, saidByEvents, "assistant")
	} else if k.query.form != unsaid && k.input.form < k.query.form {
		k.input = k.query
	}
	r.finishReply(k)
	r.spare(&k.input, &k.parameters)
	r.spare(&k.input, &k.traceInput)
	r.spare(&k.output, &k.traceOutput)
	settle(&r.input, &k.input)
	settle(&r.output, &k.output)
	settle(&r.system, &k.system)
	settle(&r.tools, &k.tools)
}

// settle keeps a payload unless the row has been given one.
func settle(to *[]byte, p *payload) {
	if len(*to) == 0 && p.form != unsaid {
		*to = p.text
	}
}

// spare uses a payload if there is no other; otherwise it stays an attribute.
func (r *row) spare(p, other *payload) {
	switch {
	case other.form == unsaid:
	case p.form == unsaid:
		*p = *other
	case len(r.attrs) < maxAttributes:
		r.attrs = append(r.attrs, attr{key: other.key, value: other.text, json: other.json})
	}
}

func (r *row) finishList(k *known, l list, p *payload, said form, role string) {
	if p.form >= said {
		return
	}
	if parts := k.partsOf(l); len(parts) > 0 {
		b := k.appendElements(r.scratch.open(), parts, role)
		*p = payload{text: r.scratch.close(b), json: true, form: said}
	}
}

// finishEmbeddings makes the texts the input and the vectors the output.
func (r *row) finishEmbeddings(k *known) {
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
	if len(b) > 1 && k.input.form < saidFlat {
		b[len(b)-1] = ']'
		k.input = payload{text: r.scratch.close(b), json: true, form: saidFlat}
	}
	b = append(r.scratch.open(), '[')
	for _, p := range parts {
		if p.field() == fieldVector {
			b = append(k.texts[p.text()].append(append(b, `{"vector":`...)), '}', ',')
		}
	}
	if len(b) > 1 && k.output.form < saidFlat {
		b[len(b)-1] = ']'
		k.output = payload{text: r.scratch.close(b), json: true, form: saidFlat}
	}
}

// finishRerank makes the question and the documents one input.
func (r *row) finishRerank(k *known) {
	parts := k.partsOf(listRerankInput)
	if k.input.form >= saidFlat {
		return
	}
	if len(parts) == 0 {
		if k.query.form != unsaid {
			k.input = k.query
		}
		return
	}
	b := append(r.scratch.open(), '{')
	if k.query.form != unsaid {
		b = append(appendPayload(append(b, `"query":`...), &k.query), ',')
	}
	b = k.appendElements(append(b, `"documents":`...), parts, "")
	k.input = payload{text: r.scratch.close(append(b, '}')), json: true, form: saidFlat}
}

// finishReply makes one answer of what the AI SDK sends apart.
func (r *row) finishReply(k *known) {
	said := max(k.replyText.form, k.replyCalls.form)
	switch {
	case k.output.form >= max(said, k.replyObject.form):
	case said != unsaid:
		b := appendReply(r.scratch.open(), &k.replyText, &k.replyCalls)
		k.output = payload{text: r.scratch.close(b), json: true, form: said}
	default:
		k.output = k.replyObject
	}
}

// finishNames settles who did what.
func (r *row) finishNames(k *known) {
	if len(r.model) == 0 {
		r.model = k.requestModel
	}
	if len(r.provider) > 0 {
		r.provider = providerName(r.provider)
	} else if len(r.model) > 0 {
		r.provider = providerOfModel(r.model)
	}
	if r.primitive == "" {
		r.primitive = r.guessStep(k)
	}
	switch r.primitive {
	case primitiveToolCall:
		if len(r.tool) == 0 {
			r.tool = firstOf(k.entity, afterWord(r.name, "execute_tool "), afterWord(r.name, "tools/call "), r.name)
		}
	case primitiveAgent:
		if len(r.agent) == 0 {
			r.agent = firstOf(k.entity, k.node, afterWord(r.name, "invoke_agent "), afterWord(r.name, "create_agent "), r.name)
		}
	}
}

// guessStep tells the kind of a step from what it carries, for spans of
// libraries that do not say.
func (r *row) guessStep(k *known) string {
	if first, _, ok := bytes.Cut(r.name, []byte(" ")); ok {
		switch string(first) {
		case "execute_tool", "invoke_agent", "create_agent", "invoke_workflow", "embeddings":
			return operation(first)
		}
	}
	switch {
	case len(r.model) > 0 && (r.inputTokens+r.outputTokens > 0 || k.input.form != unsaid || k.output.form != unsaid || len(r.provider) > 0):
		return primitiveModelCall
	case len(r.tool) > 0:
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
func (r *row) finishTokens(k *known) {
	if total := k.totalTokens; total > 0 {
		switch {
		case k.told[factInputTokens] == nobody:
			r.inputTokens = total - min(total, r.outputTokens)
		case k.told[factOutputTokens] == nobody:
			r.outputTokens = total - min(total, r.inputTokens)
		}
	}
	if cache := uint64(r.cachedTokens) + uint64(r.cacheWriteTokens); cache > uint64(r.inputTokens) {
		r.inputTokens = uint32(min(uint64(r.inputTokens)+cache, 1<<32-1))
	}
}
