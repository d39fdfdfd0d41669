import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import { EVERYTHING } from './command-line.ts'
import {
  type Argument,
  type Call,
  getValueWord,
  GLOBAL_OPTIONS,
  listOptions,
  type Option,
  type Verb,
} from './verb.ts'

/** The shell completes paths itself. */
const FILES = ':files'
const DIRECTORIES = ':directories'

const BASH = `# In ~/.bashrc: eval "$(winnow completion bash)"
_winnow() {
  local current=\${COMP_WORDS[COMP_CWORD]} offered line
  offered=$(winnow complete -- "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null | cut -f 1)
  if [ "$current" = = ]; then current=; fi
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -n "$line" ]; then COMPREPLY+=("$line"); fi
  done < <(
    case $offered in
      ${FILES}) compgen -f -- "$current" ;;
      ${DIRECTORIES}) compgen -d -- "$current" ;;
      *) printf '%s\\n' "$offered" ;;
    esac
  )
  case $offered in :*) compopt -o filenames 2>/dev/null ;; esac
}
complete -F _winnow winnow git-winnow`

/** Works with eval in a profile and as a file `_winnow` on fpath. */
const ZSH = `#compdef winnow git-winnow
# In ~/.zshrc, after compinit: eval "$(winnow completion zsh)"
_winnow() {
  local -a offered
  offered=("\${(@f)$(winnow complete -- "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ $words[CURRENT] = --*=* ]]; then compset -P '*='; fi
  case $offered[1] in
    '') return 1 ;;
    ${FILES}) _files ;;
    ${DIRECTORIES}) _files -/ ;;
    *) offered=("\${(@)offered//:/\\\\:}"); _describe 'winnow' "(\${(@)offered/$'\\t'/:})" ;;
  esac
}
if [[ $funcstack[1] = _winnow ]]; then _winnow "$@"; else compdef _winnow winnow git-winnow; fi`

const FISH = `# In ~/.config/fish/config.fish: winnow completion fish | source
function __winnow_offers
    set -l current (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' "$current")
    for line in (winnow complete -- (commandline -opc) "$current" 2>/dev/null)
        switch $line
            case '${FILES}'
                __fish_complete_path (string replace -- "$option" '' "$current")
            case '${DIRECTORIES}'
                __fish_complete_directories (string replace -- "$option" '' "$current")
            case '*'
                printf '%s%s\\n' "$option" $line
        end
    end
end
complete -c winnow -f -a '(__winnow_offers)'
complete -c git-winnow -w winnow`

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH }

export const completionVerb: Verb = {
  name: 'completion',
  group: 'more',
  summary: 'print the completion script of a shell, with install instructions in its first lines',
  access: 'apart',
  arguments: [{ name: 'shell', summary: 'your shell', required: true, values: Object.keys(SCRIPTS) }],
  examples: ['winnow completion bash', 'winnow completion zsh', 'winnow completion fish'],
  async run({ given, terminal }) {
    terminal.out(SCRIPTS[given.positionals[0] ?? ''] ?? '')
    return 0
  },
}

export const completeVerb: Verb = {
  name: 'complete',
  group: 'more',
  summary: 'print the words that can come next; completion scripts run this',
  access: 'apart',
  command: { name: 'words', summary: 'the command line up to the cursor' },
  examples: ['winnow complete -- winnow status --camp'],
  async run(call) {
    for (const { value, summary = '' } of await listOffers(call))
      call.terminal.out(`${value}\t${summary}`.trimEnd())
    return 0
  },
}

interface Offer {
  value: string
  summary?: string
}

async function listOffers(call: Call): Promise<Offer[]> {
  const { verb, option, place, current, literal } = readTypedWords(call.given.command.slice(1), call.verbs)
  if (literal) return [{ value: FILES }]
  const offers = option ? await listValues(call, getValueWord(option), option.values) : listNext()
  return (await offers).filter(({ value }) => value.startsWith(':') || value.startsWith(current))

  async function listNext(): Promise<Offer[]> {
    if (current.startsWith('-')) return (verb ? listOptions(verb) : GLOBAL_OPTIONS).flatMap(describeOption)
    if (verb === undefined) return call.verbs.map(({ name, summary }) => ({ value: name, summary }))
    if (verb.name === 'help')
      return place > 0
        ? []
        : [...call.verbs.map(({ name, summary }) => ({ value: name, summary })), { value: EVERYTHING }]
    const { arguments: words = [] } = verb
    const argument = words[place] ?? words.findLast(({ many }) => many === true)
    return argument === undefined ? [] : listValues(call, argument.name, argument.values)
  }
}

function describeOption({ name, short, summary }: Option): Offer[] {
  return [{ value: `--${name}`, summary }, ...(short === undefined ? [] : [{ value: `-${short}`, summary }])]
}

interface TypedWords {
  verb: Verb | undefined
  /** The option whose value is being typed. */
  option: Option | undefined
  /** Number of arguments before the cursor. */
  place: number
  current: string
  /** The cursor is after `--`. */
  literal: boolean
}

/** bash passes `--name=value` as three words, other shells as one. */
function readTypedWords(words: readonly string[], verbs: readonly Verb[]): TypedWords {
  const [inline, name, value] = /^(--[^=]+)=(.*)$/s.exec(words.at(-1) ?? '') ?? []
  const typed = (inline === undefined ? words : [...words.slice(0, -1), name ?? '', value ?? '']).filter(
    (word, at, all) => word !== '=' || at === all.length - 1,
  )
  const before = typed.slice(0, -1)
  const found: TypedWords = {
    verb: undefined,
    option: undefined,
    place: 0,
    current: typed.at(-1) ?? '',
    literal: false,
  }
  if (found.current === '=') found.current = ''
  for (const word of before) {
    if (word === '--') return { ...found, literal: true }
    if (found.option !== undefined) found.option = undefined
    else if (word.startsWith('-')) found.option = findValuedOption(word, found.verb)
    else if (found.verb === undefined) found.verb = verbs.find(each => each.name === word)
    else found.place += 1
  }
  return found
}

function findValuedOption(word: string, verb: Verb | undefined): Option | undefined {
  return (verb ? listOptions(verb) : GLOBAL_OPTIONS).find(
    option =>
      getValueWord(option) !== undefined && (word === `--${option.name}` || word === `-${option.short}`),
  )
}

/** The shell would expand special characters in the name of a branch or file. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/

/** Candidates for a placeholder, which means the same in all verbs. */
async function listValues(
  call: Call,
  word: Argument['name'] | undefined,
  values: readonly string[] | undefined,
): Promise<Offer[]> {
  if (values !== undefined) return values.map(value => ({ value }))
  const found = await listNames(call, word ?? '')
  return [...new Set(found)]
    .filter(name => name.startsWith(':') || PLAIN.test(name))
    .map(value => ({ value }))
}

async function listNames(call: Call, word: string): Promise<string[]> {
  switch (word) {
    case 'file':
    case 'payload':
      return [FILES]
    case 'dir':
      return [DIRECTORIES]
    case 'campaign':
    case 'spec':
      return listSpecNames(call)
    case 'commit':
    case 'base':
    case 'head':
      return readGitLines(call, ['for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/tags'])
    case 'exp':
      return listExperimentIds(call)
    default:
      return []
  }
}

async function listSpecNames(call: Call): Promise<string[]> {
  const [root] = await readGitLines(call, ['rev-parse', '--show-toplevel'])
  if (root === undefined) return []
  const files = await readdir(join(root, '.winnow')).catch(() => [])
  return files.flatMap(file => /^(.*)\.ya?ml$/.exec(file)?.[1] ?? [])
}

/** From the branches that were fetched, because asking the remote would take too long. */
async function listExperimentIds(call: Call): Promise<string[]> {
  const refs = await readGitLines(call, ['for-each-ref', '--format=%(refname)'])
  return refs.flatMap(ref => /\/(exp-\d+)(?:-[^/]*)?$/.exec(ref)?.[1] ?? []).toSorted()
}

async function readGitLines({ environment }: Call, args: readonly string[]): Promise<string[]> {
  return createGitRunner(buildLocalIsolation(environment.directory, environment.env)).run({
    args: [...args],
    answers: [128],
    parse: ({ stdout }) => stdout.split('\n').filter(line => line !== ''),
  })
}
