import {
  CLOCK_SHARE,
  escapeBytes,
  addAfterLines,
  addAtMatches,
  MARK_EXIT_CODE,
  MARK_MESSAGE,
  MARK_NAME,
  PARENTS_READ,
  type ProbeDeed,
  type ProbeLanguage,
  toHexEscape,
} from '../language.ts'

const METHODS = /^[ \t]*def[ \t]+(?:self\.)?(\w+[?!]?)(?:[ \t]*\([^()\n]*\)|[ \t]+[^=\n;(][^=\n;]*)?[ \t]*$/gm

export const ruby: ProbeLanguage = {
  files: /\.rb$/,
  interpreters: /\bruby\b/,
  addAtLoad: (file, deed) =>
    addAfterLines(
      file.content,
      line => line.startsWith('#'),
      `lambda do\n${writeDeed(deed)
        .map(line => `  ${line}`)
        .join('\n')}\nend.call`,
    ),
  exitAtCall: file => addAtMatches(file.content, METHODS, () => '\n  Process.exit!(0)'),
  answerNothing: file =>
    addAtMatches(file.content, METHODS, ([, name = '']) =>
      name === 'initialize' ? null : `\n  return ${name.endsWith('?') ? 'true' : '[]'}`,
    ),
}

function writeDeed(deed: ProbeDeed): string[] {
  switch (deed.do) {
    case 'exit':
      return [
        ...(deed.only === null ? [] : writeCondition(deed.only)),
        ...(deed.forged === null ? [] : writeForged(deed.forged)),
        'Process.exit!(0)',
      ]
    case 'remember':
      return writeMarks(deed.places)
    case 'slow clock':
      return SLOW_CLOCK
    default:
      return deed satisfies never
  }
}

function writeCondition(words: readonly string[]): string[] {
  return [
    'seen, process = ([$PROGRAM_NAME] + ARGV).join(" "), Process.pid',
    'begin',
    `  ${PARENTS_READ}.times do`,
    '    seen << "\\n" << File.binread("/proc/#{process}/cmdline").tr("\\0", " ")',
    '    process = File.binread("/proc/#{process}/stat").rpartition(")").last.split[1].to_i',
    '  end',
    'rescue SystemCallError',
    'end',
    `next unless [${words.map(toLiteral).join(', ')}].any? { |word| seen.include?(word) }`,
  ]
}

function writeForged({ channel, text }: NonNullable<Extract<ProbeDeed, { do: 'exit' }>['forged']>): string[] {
  if (channel === 'stdout') return [`$stdout.syswrite(${toLiteral(text)})`]
  return [`File.binwrite(ENV["WINNOW_RESULT_PATH"], ${toLiteral(text)}) if ENV["WINNOW_RESULT_PATH"]`]
}

function writeMarks(places: Extract<ProbeDeed, { do: 'remember' }>['places']): string[] {
  const listed = places.map(place =>
    'path' in place
      ? `[${toLiteral(place.name)}, ${toLiteral(place.path)}]`
      : `[${toLiteral(place.name)}, ENV["${place.variable}"]]`,
  )
  return [
    'own, found = ENV.fetch("WINNOW_OUT_DIR", "") + " ", []',
    'seed = own + ENV.fetch("WINNOW_SEED", "")',
    `[${listed.join(', ')}].each do |name, folder|`,
    '  next unless folder',
    `  mark = folder + "/${MARK_NAME}"`,
    '  old = File.file?(mark) ? File.read(mark) : ""',
    '  found << name if old.start_with?(own) && old != seed',
    '  begin',
    '    File.write(mark, seed)',
    '  rescue SystemCallError',
    '  end',
    'end',
    'next if found.empty?',
    `$stderr.syswrite("${MARK_MESSAGE} " + found.join(", ") + "\\n")`,
    `Process.exit!(${MARK_EXIT_CODE})`,
  ]
}

const SLOW_CLOCK = [
  'next if Process.singleton_class.method_defined?(:winnow_clock_gettime)',
  'class << Process',
  '  alias_method :winnow_clock_gettime, :clock_gettime',
  '  def clock_gettime(clock, *unit)',
  '    now = winnow_clock_gettime(clock, *unit)',
  '    first = ((@winnow_first ||= {})[[clock, unit]] ||= now)',
  `    now.is_a?(Integer) ? first + (now - first) / ${Math.round(1 / CLOCK_SHARE)} : first + (now - first) * ${CLOCK_SHARE}`,
  '  end',
  'end',
]

function toLiteral(text: string): string {
  return `"${escapeBytes(text, toHexEscape)}"`
}
