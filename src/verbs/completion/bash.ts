import { GLOBAL_OPTIONS, listOptions, type Verb } from '../verb.ts'
import {
  getArgumentCompletion,
  type CompletionSource,
  listOwnValuedOptions,
  listSpellings,
  getValueCompletion,
  listValuedOptions,
} from './completed-by.ts'
import { CAMPAIGNS_BEGIN, REVISIONS } from './found.ts'

/** Names from a repository are offered only if they are plain: a shell would obey the others. */
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
      (argument, place) =>
        `    '${verb.name} ${place}') ${renderBashOffer(getArgumentCompletion(argument, verb, verbs))} ;;`,
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

/** What stands before the cursor says which word is wanted; `=` is a word of its own in bash. */
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
