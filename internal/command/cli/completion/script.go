// Package completion has shells complete the commands of assay.
package completion

// Scripts have the shells ask the binary itself, so that they never differ from
// its commands.
var Scripts = map[string]string{
	"bash": `# bash completion of assay
_assay() {
  local IFS=$'\n'
  COMPREPLY=($(assay complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _assay assay
`,
	"zsh": `#compdef assay
_assay() {
  local -a lines
  lines=(${(f)"$(assay complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\:/g' -e $'s/\t/:/')"})
  if (( ${#lines} )); then _describe assay lines; else _files; fi
}
compdef _assay assay
`,
	"fish": `# fish completion of assay
complete -c assay -a '(assay complete-words -- (commandline -opc)[2..] (commandline -ct))'
`,
}
