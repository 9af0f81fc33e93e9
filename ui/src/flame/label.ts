// Names of functions that are too long: the module gives way first, at its start. Arithmetic only.

/** Returns the place of the function in `module:function/arity`; 0 for other names. */
export function functionStart(name: string): number {
  const found = /^(?:[a-z][\w@]*|'[^']*'):(?=[^:].*\/\d)/.exec(name);
  return found ? found[0].length : 0;
}

/** Returns as much of a name as fits into `room` characters. */
export function shortened(name: string, room: number): string {
  if (name.length <= room) return name;
  const start = functionStart(name);
  const kept = room - 1 - (name.length - start);
  if (start > 0 && kept >= -1) return kept > 1 ? `…${name.slice(start - kept)}` : name.slice(start);
  return `${name.slice(start, start + room - 1)}…`;
}
