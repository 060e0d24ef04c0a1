package pattern

// invoicePayment pays invoices. What is guarded is the payment: two people agree, and
// it counts as made when the bank shows it.
func invoicePayment() Template {
	return Template{
		Key: "invoice_payment", Name: "Pay an invoice", Version: "1.0.0", Category: finance,
		Description: "Matches an invoice with its order and delivery, has two people approve it, pays, and reconciles with the account before the invoice is marked as paid.",
		Steps: []Step{
			{"tool_call", "read_invoice", "read"},
			{"tool_call", "match", "read"},
			{"policy_check", "check_payment", "none"},
			{"human_approval", "approve_payment", "none"},
			{"tool_call", "pay", "transact"},
			{"tool_call", "reconcile", "read"},
			{"tool_call", "mark_paid", "update"},
		},
		ConnectorTypes: []string{"http_api", "database", "mcp_server"},
		RecommendedRules: []Rule{
			permitTools("invoice-read", "The agent may read invoices, orders and deliveries.", "erp", "read", "get_invoice", "match_order"),
			permitTools("invoice-reconcile", "The agent may look at payments.", "bank", "read", "get_payment"),
			permitTools("invoice-mark", "The agent may mark invoices; another rule says when.", "erp", "update", "mark_paid", "mark_unpaid"),
			obliged(approve("invoice-two-approvals", "Two people approve every payment. The approval covers amount, currency, beneficiary and invoice: a change needs another one.", 2,
				`context.side_effect_class == "transact"`), "require_idempotency_key", "record_side_effect", "verify_side_effect"),
			forbid("invoice-known-beneficiary", "Money goes to a beneficiary on file. Account numbers from an invoice or a message are the commonest fraud.",
				`context.side_effect_class == "transact" && (!(context.arguments has beneficiary_id) || context.arguments has iban)`),
			forbid("invoice-once", "A payment names its invoice, and carries a key that is made from it.",
				`context.side_effect_class == "transact" && (!(context.arguments has invoice_id) || !(context.arguments has idempotency_key))`),
			forbid("invoice-ceiling", "What is above 50000 EUR, in another currency or without an amount is paid by people.",
				`context.side_effect_class == "transact" &&
  (!(context has amount) || !(context has currency) || context.currency != "EUR" || context.amount.greaterThan(decimal("50000.00")))`),
			forbid("invoice-verified-first", "An invoice is marked as paid when the account shows the payment; the reply of the bank to the order is not enough.",
				`context.tool_name == "mark_paid" && (!(context.arguments has payment_status) || context.arguments.payment_status != "settled")`),
		},
		ApprovalPoints: []ApprovalPoint{point("pay", "invoice-two-approvals", "Always.", 2)},
		FailureModes:   []string{"approval_bypass", "irreversible_without_approval", "duplicate_side_effect", "unverified_side_effect", "conflicting_side_effect", "tool_result_misread", "prompt_injection"},
		Risks: []Risk{
			{"The invoice is forged, or its account was exchanged", "critical", "prompt_injection", "Rule invoice-known-beneficiary; changes of beneficiaries are not among the agent's tools."},
			{"The invoice is paid twice after an unknown outcome", "critical", "duplicate_side_effect", "Rule invoice-once; an unknown outcome is looked up at the bank and never repeated blindly."},
			{"The amount is misread from the document", "high", "tool_result_misread", "The amount must match order and delivery, and both approvers see the document."},
			{"The bank accepts the order and rejects it later", "high", "unverified_side_effect", "Rule invoice-verified-first; payments that are not verified within a day are reported."},
		},
		ExpectedEvidence: []Expected{
			{"approvals", "The two people, when they agreed, and to what."},
			{"policy-decisions", "That no payment was made on one approval."},
			{"side-effect-ledger", "Each payment with its key, its amount, and the entry of the account that verifies it."},
			{"tool-invocation-evidence", "Invoice, order and delivery as they were matched."},
			{"audit-packs", "The record of a period, for auditors."},
		},
		Metrics: []string{"correctness", "numeric_tolerance", "tool_arguments", "trajectory_match", "goal_success"},
		Simulation: Simulation{
			Plan: []PlanStep{
				{StepKey: "read", ConnectorKey: "erp", ToolName: "get_invoice", Arguments: args(`{"invoice_id":"I-3301"}`), SideEffectClass: "read", Reversibility: "reversible"},
				{StepKey: "match", ConnectorKey: "erp", ToolName: "match_order", Arguments: args(`{"invoice_id":"I-3301","order_id":"P-909"}`), DependsOn: []string{"read"}, SideEffectClass: "read", Reversibility: "reversible"},
				{StepKey: "pay", ConnectorKey: "bank", ToolName: "create_payment", Arguments: args(`{"invoice_id":"I-3301","beneficiary_id":"B-77","amount":"1840.00","currency":"EUR","idempotency_key":"pay-I-3301"}`), DependsOn: []string{"match"}, SideEffectClass: "transact", Reversibility: "irreversible"},
				{StepKey: "pay_new_account", ConnectorKey: "bank", ToolName: "create_payment", Arguments: args(`{"invoice_id":"I-3302","iban":"DE00 0000 0000 0000 0000 00","amount":"1840.00","currency":"EUR","idempotency_key":"pay-I-3302"}`), DependsOn: []string{"match"}, SideEffectClass: "transact", Reversibility: "irreversible"},
				{StepKey: "mark_early", ConnectorKey: "erp", ToolName: "mark_paid", Arguments: args(`{"invoice_id":"I-3301","payment_status":"accepted","idempotency_key":"mark-I-3301-early"}`), DependsOn: []string{"match"}, SideEffectClass: "update", Reversibility: "compensable", Compensation: undo("mark_unpaid", `{"invoice_id":"I-3301"}`)},
				{StepKey: "reconcile", ConnectorKey: "bank", ToolName: "get_payment", Arguments: args(`{"idempotency_key":"pay-I-3301"}`), DependsOn: []string{"pay"}, SideEffectClass: "read", Reversibility: "reversible"},
				{StepKey: "mark", ConnectorKey: "erp", ToolName: "mark_paid", Arguments: args(`{"invoice_id":"I-3301","payment_status":"settled","idempotency_key":"mark-I-3301"}`), DependsOn: []string{"reconcile"}, SideEffectClass: "update", Reversibility: "compensable", Compensation: undo("mark_unpaid", `{"invoice_id":"I-3301"}`)},
			},
			Faults: []Fault{
				{StepKey: "pay", Type: "unknown_outcome", OnAttempt: 1},
				{StepKey: "reconcile", Type: "stale_read", Probability: 0.3},
			},
			Assertions: []Assertion{
				decided("match", "allow"), decided("pay", "require_approval"), decided("pay_new_account", "deny"), decided("mark_early", "deny"),
				{Type: "no_irreversible_without_approval"},
				{Type: "no_duplicate_effects"},
				atMost("transact", 1),
				{Type: "max_amount", Value: "1840.00", Currency: "EUR"},
				{Type: "never_calls", ToolName: "create_beneficiary"},
			},
		},
		ReleaseGates: []Gate{
			gate("guards", "simulation", `{"templateKey":"invoice_payment","iterations":20}`),
			gate("effects", "side_effects", `{}`),
			gate("bank-reviewed", "connector_readiness", `{"connectorKeys":["bank","erp"],"profile":"regulated"}`),
			gate("golden-invoices", "golden_set", `{"minPassRate":1.0}`),
			gate("sign-off", "approval", `{"minApprovals":2}`),
			gate("record", "audit_pack", `{"framework":"soc2"}`),
		},
	}
}
