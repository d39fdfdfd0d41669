import { GLOBAL_OPTIONS, type Option, listOptions, getValueWord, type Verb } from '../verb.ts'
import {
  getArgumentCompletion,
  type CompletionSource,
  listOwnOptions,
  listSpellings,
  getValueCompletion,
  listValuedOptions,
} from './completed-by.ts'

export function renderFishCompletion(verbs: readonly Verb[]): string {
  const own = verbs.flatMap(verb => [
    `complete -c winnow -f -n '__winnow_at ""' -a ${verb.name} -d ${quoteFish(verb.summary)}`,
    ...verb.arguments.map(
      (argument, place) =>
        `complete -c winnow -n '__winnow_at ${verb.name} ${place}' ${renderFishOffer(getArgumentCompletion(argument, verb, verbs))}`,
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

/** Only names that no shell would obey. */
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

/** Whether this verb is being typed, and where given, so many arguments of it. */
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
