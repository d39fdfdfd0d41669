import { GLOBAL_OPTIONS, type Option, listOptions, type Verb } from '../verb.ts'
import {
  getArgumentCompletion,
  type CompletionSource,
  listOwnValuedOptions,
  listSpellings,
  getValueCompletion,
  listValuedOptions,
} from './completed-by.ts'
import { CAMPAIGNS_BEGIN, REVISIONS } from './found.ts'

/** Works from a profile, by eval, and as a file called _winnow on fpath. */
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
        (argument, place) =>
          `    '${verb.name} ${place}') ${renderZshOffer(getArgumentCompletion(argument, verb, verbs))} ;;`,
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
