/** An instant as people say it, with the exact time at hand. */

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["minute", 60],
  ["hour", 3600],
  ["day", 86_400],
];
const WEEK = 7 * 86_400;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "short" });

export function TimeAgo({ at }: { at: string }) {
  const instant = new Date(at);
  return (
    <time dateTime={at} title={exact.format(instant)}>
      {timeAgo(instant, new Date())}
    </time>
  );
}

export function timeAgo(instant: Date, now: Date): string {
  const seconds = Math.round((now.getTime() - instant.getTime()) / 1000);
  if (seconds < 60) return "just now";
  if (seconds >= WEEK) return day.format(instant);
  const [unit, length] = UNITS.findLast(([, size]) => seconds >= size) ?? ["minute", 60];
  return relative.format(-Math.floor(seconds / length), unit);
}
