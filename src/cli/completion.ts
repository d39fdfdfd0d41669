import { UserError } from '../errors.ts'
import { EVERYTHING } from './help.ts'
import { type Argument, getValueWord, GLOBAL_OPTIONS, listOptions, type Option, type Verb } from './verb.ts'

const SHELLS: Readonly<Record<string, (verbs: readonly Verb[]) => string>> = {
  bash: renderBashCompletion,
  zsh: renderZshCompletion,
  fish: renderFishCompletion,
}

export const completionVerb: Verb = {
  name: 'completion',
  group: 'more',
  summary:
    'print what makes a shell complete commands, options and campaigns; its first lines say where to put it',
  access: 'apart',
  arguments: [{ name: 'shell', summary: 'which shell', required: true, values: Object.keys(SHELLS) }],
  options: [],
  examples: ['winnow completion bash', 'winnow completion zsh', 'winnow completion fish'],
  exits: {},
  async run({ given, terminal, verbs }) {
    const [shell = ''] = given.positionals
    const written = SHELLS[shell]
    if (written === undefined) throw new UserError(`winnow has no completion for ${shell}`)
    terminal.out(written(verbs).trimEnd())
    return 0
  },
}

// Shared by all shells

/** Fixed words, or a kind of name that the shell looks up in the current directory. */
type CompletionSource = readonly string[] | 'campaigns' | 'files' | 'directories' | 'revisions' | 'nothing'

/** Maps the placeholder of a value, which is the same in all verbs, to its completion. */
const BY_WORD: Readonly<Record<string, CompletionSource>> = {
  campaign: 'campaigns',
  spec: 'campaigns',
  file: 'files',
  payload: 'files',
  dir: 'directories',
  commit: 'revisions',
  base: 'revisions',
  head: 'revisions',
}

function getValueCompletion(option: Option): CompletionSource {
  return option.values ?? BY_WORD[getValueWord(option) ?? ''] ?? 'nothing'
}

function getArgumentCompletion(
  { name, values }: Argument,
  verb: Verb,
  verbs: readonly Verb[],
): CompletionSource {
  if (verb.name === 'help') return [...verbs.map(each => each.name), EVERYTHING]
  return values ?? BY_WORD[name] ?? 'nothing'
}

function listSpellings({ name, short }: Option): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

function listValuedOptions(options: readonly Option[]): Option[] {
  return options.filter(option => getValueWord(option) !== undefined)
}

function listOwnOptions(verb: Verb): Option[] {
  const known = new Set(GLOBAL_OPTIONS.map(({ name }) => name))
  return listOptions(verb).filter(({ name }) => !known.has(name))
}

function listOwnValuedOptions(verbs: readonly Verb[]): { verb: string; option: Option }[] {
  return verbs.flatMap(verb =>
    listValuedOptions(listOwnOptions(verb)).map(option => ({ verb: verb.name, option })),
  )
}

/** Offers only plain names: the shell would expand special characters in a branch or file name. */
const REVISIONS = [
  '_winnow_revisions() {',
  "  git for-each-ref --format='%(refname:short)' refs/heads refs/tags 2>/dev/null | _winnow_plain",
  '}',
]

const CAMPAIGNS_BEGIN = [
  '_winnow_campaigns() {',
  '  local root file',
  '  root=$(git rev-parse --show-toplevel 2>/dev/null) || return 0',
]

// bash

export function renderBashCompletion(verbs: readonly Verb[]): string {
  const ofVerb = verbs.map(
    verb => `    ${verb.name}) echo '${listOptions(verb).flatMap(listSpellings).join(' ')}' ;;`,
  )
  const globals = listValuedOptions(GLOBAL_OPTIONS).flatMap(option =>
    listSpellings(option).map(
      spelling => `    *' ${spelling}') ${renderBashOffer(getValueCompletion(option))} ;;`,
    ),
  )
  const own = listOwnValuedOptions(verbs).flatMap(({ verb, option }) =>
    listSpellings(option).map(
      spelling => `    '${verb} ${spelling}') ${renderBashOffer(getValueCompletion(option))} ;;`,
    ),
  )
  const places = verbs.flatMap(verb =>
    verb.arguments.map(
      (argument, index) =>
        `    '${verb.name} ${index}') ${renderBashOffer(getArgumentCompletion(argument, verb, verbs))} ;;`,
    ),
  )
  return [
    '# In ~/.bashrc: eval "$(winnow completion bash)"',
    ...BASH_FOUND,
    '',
    '_winnow_options() {',
    '  case $1 in',
    ...ofVerb,
    `    *) echo '${GLOBAL_OPTIONS.flatMap(listSpellings).join(' ')}' ;;`,
    '  esac',
    '}',
    '',
    '# Fails where the option takes no value.',
    '_winnow_value() {',
    '  case "$1 $2" in',
    ...own,
    ...globals,
    '    *) return 1 ;;',
    '  esac',
    '}',
    '',
    '_winnow_argument() {',
    '  case "$1 $2" in',
    `    ' 0') echo '${verbs.map(({ name }) => name).join(' ')}' ;;`,
    ...places,
    '    *) : ;;',
    '  esac',
    '}',
    ...BASH_MAIN,
    '',
  ].join('\n')
}

function renderBashOffer(by: CompletionSource): string {
  if (typeof by !== 'string') return `echo '${by.join(' ')}'`
  switch (by) {
    case 'campaigns':
      return '_winnow_campaigns'
    case 'revisions':
      return '_winnow_revisions'
    case 'files':
      return "echo '<files>'"
    case 'directories':
      return "echo '<directories>'"
    case 'nothing':
      return ':'
    default:
      return by satisfies never
  }
}

const BASH_FOUND = [
  '_winnow_plain() { LC_ALL=C grep -E "^[A-Za-z0-9][A-Za-z0-9._/-]*$"; }',
  '',
  ...CAMPAIGNS_BEGIN,
  '  for file in "$root"/.winnow/*.yaml; do',
  '    [ -e "$file" ] || continue',
  '    file=${file##*/}',
  '    printf \'%s\\n\' "${file%.yaml}"',
  '  done | _winnow_plain',
  '}',
  '',
  ...REVISIONS,
]

/** Finds the wanted word from the words before the cursor. bash treats `=` as a separate word. */
const BASH_MAIN = String.raw`
_winnow() {
  local current=${'$'}{COMP_WORDS[COMP_CWORD]} verb= option= offered= word at=1 place=0
  COMPREPLY=()
  while [ "$at" -lt "$COMP_CWORD" ]; do
    word=${'$'}{COMP_WORDS[at]}
    at=$((at + 1))
    if [ "$word" = = ]; then continue; fi
    if [ -n "$option" ]; then option=; continue; fi
    case $word in
      --) offered='<files>' ; break ;;
      -*) if _winnow_value "$verb" "$word" >/dev/null; then option=$word; fi ;;
      *) if [ -z "$verb" ]; then verb=$word; else place=$((place + 1)); fi ;;
    esac
  done
  if [ "$current" = = ]; then current=; fi
  if [ -z "$offered" ]; then
    if [ -n "$option" ]; then offered=$(_winnow_value "$verb" "$option")
    else
      case $current in
        -*) offered=$(_winnow_options "$verb") ;;
        *) if [ -z "$verb" ]; then offered=$(_winnow_argument '' 0)
           else offered=$(_winnow_argument "$verb" "$place"); fi ;;
      esac
    fi
  fi
  case $offered in
    '<files>' | '<directories>')
      local kind=-f
      if [ "$offered" = '<directories>' ]; then kind=-d; fi
      if type compopt >/dev/null 2>&1; then compopt -o filenames 2>/dev/null; fi
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$kind" -- "$current") ;;
    *)
      while IFS= read -r word; do
        if [[ -n $word && $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
      done < <(printf '%s\n' "$offered" | tr ' ' '\n') ;;
  esac
}
complete -F _winnow winnow git-winnow`.split('\n')

// zsh

/** Works with eval in a profile and as a file `_winnow` on fpath. */
export function renderZshCompletion(verbs: readonly Verb[]): string {
  return [
    '#compdef winnow git-winnow',
    '# In ~/.zshrc, after compinit: eval "$(winnow completion zsh)"',
    ...ZSH_FOUND,
    '',
    '_winnow_options() {',
    '  local -a offered',
    '  case $1 in',
    ...verbs.map(verb => `    ${verb.name}) offered=(${renderZshDescriptions(listOptions(verb))}) ;;`),
    `    *) offered=(${renderZshDescriptions(GLOBAL_OPTIONS)}) ;;`,
    '  esac',
    "  _describe -o 'option' offered",
    '}',
    '',
    '# Fails where the option takes no value; with "ask" it only says so.',
    '_winnow_value() {',
    '  case "$1 $2" in',
    ...listOwnValuedOptions(verbs).flatMap(({ verb, option }) => renderZshValues(`'${verb} `, option)),
    ...listValuedOptions(GLOBAL_OPTIONS).flatMap(option => renderZshValues("*' ", option)),
    '    *) return 1 ;;',
    '  esac',
    '}',
    '',
    '_winnow_argument() {',
    '  local -a offered',
    '  case "$1 $2" in',
    `    ' 0') offered=(${verbs.map(({ name, summary }) => quoteZsh(`${name}:${summary}`)).join(' ')})`,
    "      _describe 'command' offered ;;",
    ...verbs.flatMap(verb =>
      verb.arguments.map(
        (argument, index) =>
          `    '${verb.name} ${index}') ${renderZshOffer(getArgumentCompletion(argument, verb, verbs))} ;;`,
      ),
    ),
    '    *) : ;;',
    '  esac',
    '}',
    ...ZSH_MAIN,
    '',
  ].join('\n')
}

function renderZshValues(before: string, option: Option): string[] {
  return listSpellings(option).map(
    spelling =>
      `    ${before}${spelling}') [[ $3 = ask ]] || ${renderZshOffer(getValueCompletion(option))} ;;`,
  )
}

function renderZshDescriptions(options: readonly Option[]): string {
  const each = (option: Option) =>
    listSpellings(option).map(spelling => quoteZsh(`${spelling}:${option.summary}`))
  return options.flatMap(each).join(' ')
}

function quoteZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function renderZshOffer(by: CompletionSource): string {
  if (typeof by !== 'string') return `compadd -- ${by.join(' ')}`
  switch (by) {
    case 'campaigns':
      return 'compadd -- $(_winnow_campaigns)'
    case 'revisions':
      return 'compadd -- $(_winnow_revisions)'
    case 'files':
      return '_files'
    case 'directories':
      return '_files -/'
    case 'nothing':
      return ':'
    default:
      return by satisfies never
  }
}

const ZSH_FOUND = [
  '_winnow_plain() { LC_ALL=C grep -E "^[A-Za-z0-9][A-Za-z0-9._/-]*$" }',
  '',
  ...CAMPAIGNS_BEGIN,
  '  for file in $root/.winnow/*.yaml(N:t:r); do print -r -- $file; done | _winnow_plain',
  '}',
  '',
  ...REVISIONS,
]

const ZSH_MAIN = String.raw`
_winnow() {
  local verb= option= word
  integer at place=0
  for ((at = 2; at < CURRENT; at++)); do
    word=$words[at]
    if [[ -n $option ]]; then option=; continue; fi
    case $word in
      --) _files; return ;;
      --*=*) ;;
      -*) if _winnow_value "$verb" "$word" ask; then option=$word; fi ;;
      *) if [[ -z $verb ]]; then verb=$word; else place+=1; fi ;;
    esac
  done
  word=$words[CURRENT]
  if [[ -n $option ]]; then _winnow_value "$verb" "$option"
  elif [[ $word = --*=* ]]; then
    compset -P '*='
    _winnow_value "$verb" "${'$'}{word%%=*}"
  elif [[ $word = -* ]]; then _winnow_options "$verb"
  elif [[ -z $verb ]]; then _winnow_argument '' 0
  else _winnow_argument "$verb" $place
  fi
}
if [[ $funcstack[1] = _winnow ]]; then _winnow "$@"; else compdef _winnow winnow git-winnow; fi`.split('\n')

// fish

export function renderFishCompletion(verbs: readonly Verb[]): string {
  const own = verbs.flatMap(verb => [
    `complete -c winnow -f -n '__winnow_at ""' -a ${verb.name} -d ${quoteFish(verb.summary)}`,
    ...verb.arguments.map(
      (argument, index) =>
        `complete -c winnow -n '__winnow_at ${verb.name} ${index}' ${renderFishOffer(getArgumentCompletion(argument, verb, verbs))}`,
    ),
    ...listOwnOptions(verb).map(option => renderFishOption(option, ` -n '__winnow_at ${verb.name}'`)),
  ])
  return [
    '# In ~/.config/fish/config.fish: winnow completion fish | source',
    ...FISH_FOUND,
    ...renderFishFunction(verbs),
    '',
    'complete -c winnow -f',
    ...GLOBAL_OPTIONS.map(option => renderFishOption(option, '')),
    ...own,
    'complete -c git-winnow -w winnow',
    '',
  ].join('\n')
}

function renderFishOption(option: Option, when: string): string {
  const { name, short, summary } = option
  const spelled = short === undefined ? `-l ${name}` : `-l ${name} -s ${short}`
  const value = getValueWord(option) === undefined ? '' : ` -r ${renderFishOffer(getValueCompletion(option))}`
  return `complete -c winnow${when} ${spelled} -d ${quoteFish(summary)}${value}`
}

function renderFishOffer(by: CompletionSource): string {
  if (typeof by !== 'string') return `-f -a ${quoteFish(by.join(' '))}`
  switch (by) {
    case 'campaigns':
      return "-f -a '(__winnow_campaigns)'"
    case 'revisions':
      return "-f -a '(__winnow_revisions)'"
    case 'files':
      return '-F'
    case 'directories':
      return "-f -a '(__fish_complete_directories)'"
    case 'nothing':
      return '-f'
    default:
      return by satisfies never
  }
}

function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

const PLAIN = "string match -r '^[A-Za-z0-9][A-Za-z0-9._/-]*$'"

const FISH_FOUND = [
  'function __winnow_campaigns',
  '    set -l root (git rev-parse --show-toplevel 2>/dev/null); or return 0',
  '    for file in $root/.winnow/*.yaml',
  "        string replace -r '.*/(.*)\\.yaml$' '$1' -- $file",
  `    end | ${PLAIN}`,
  'end',
  '',
  'function __winnow_revisions',
  `    git for-each-ref --format='%(refname:short)' refs/heads refs/tags 2>/dev/null | ${PLAIN}`,
  'end',
  '',
]

/** Tests which verb is being typed and, optionally, how many arguments precede the cursor. */
function renderFishFunction(verbs: readonly Verb[]): string[] {
  const valued = [...GLOBAL_OPTIONS, ...verbs.flatMap(listOptions)]
  const spelled = [...new Set(listValuedOptions(valued).flatMap(listSpellings))]
  return [
    'function __winnow_at --argument-names wanted wanted_place',
    "    set -l verb ''",
    '    set -l place 0',
    '    set -l value no',
    '    for word in (commandline -opc)[2..-1]',
    '        if test $value = yes',
    '            set value no',
    '            continue',
    '        end',
    '        switch $word',
    `            case ${spelled.join(' ')}`,
    '                set value yes',
    "            case '-*'",
    "            case '*'",
    '                if test -z "$verb"',
    '                    set verb $word',
    '                else',
    '                    set place (math $place + 1)',
    '                end',
    '        end',
    '    end',
    '    test "$verb" = "$wanted"; and test -z "$wanted_place" -o "$place" = "$wanted_place"',
    'end',
  ]
}
