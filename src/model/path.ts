/** Spellings of `.git` where a file system folds case, drops trailing dots and blanks, or has short names. */
const GIT_DIRECTORY = /^(?:\.git|git~\d+)[\s.]*(?::.*)?$/i
/** Ignored by some file systems, invisible, or able to reorder what a reviewer sees. */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u
/** Windows takes a colon for a stream of the file before it. */
const CONTROL_OR_SEPARATOR = /[\p{Cc}\\:]/u
/** Windows drops these, and takes the rest for the name. */
const DROPPED_END = /[\s.]$|^\s/u
const GIT_SETTINGS = /^(?:\.git(?:modules|attributes|ignore)[\s.:].*|git(?:mod|att|ign)~\d+.*)$/i

/** git's checkout rejects these names, but a tree that was made by hand can contain them. */
export function isUnsafePath(path: string): boolean {
  const names = path.replaceAll(new RegExp(INVISIBLE, 'gu'), '').split('/')
  return names.some(name => name === '' || name === '.' || name === '..' || GIT_DIRECTORY.test(name))
}

/** Names that git accepts, and that show or mean another file to a person or on another system. */
export function isMisleadingPath(path: string): boolean {
  if (INVISIBLE.test(path) || CONTROL_OR_SEPARATOR.test(path)) return true
  return path.split('/').some(name => GIT_SETTINGS.test(name) || DROPPED_END.test(name))
}

/** Shows characters that a person would not see: "src/a\u{202e}b.js". */
export function escapeInvisible(path: string): string {
  return path.replaceAll(/[\p{Cc}\p{Cf}]/gu, sign => `\\u{${sign.codePointAt(0)?.toString(16)}}`)
}

/** Treats two spellings as one if a case-insensitive or normalising file system does. */
export function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC')
}
