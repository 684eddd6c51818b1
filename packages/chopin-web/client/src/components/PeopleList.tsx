/** Who is here. */

import * as Popover from "@radix-ui/react-popover";
import { colourOf, initials, type Person, peopleOf } from "../people";
import type { Member } from "../wire/frames";

const MOST_SHOWN = 4;

export function PeopleList({ members, you }: { members: readonly Member[]; you: Member | null }) {
  const people = peopleOf(members, you);
  if (people.length === 0) return null;
  const shown = people.slice(0, MOST_SHOWN);
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <button type="button" className="people" data-testid="people">
          <span className="visually-hidden">Here now: {people.map(nameOf).join(", ")}</span>
          {shown.map((person) => (
            <Badge key={person.handle} person={person} />
          ))}
          {people.length > MOST_SHOWN && (
            <span className="person person--more" aria-hidden="true">
              +{people.length - MOST_SHOWN}
            </span>
          )}
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover" align="end" sideOffset={6} collisionPadding={12} aria-label="Here now">
          <p className="popover__title">Here now</p>
          <ul className="people-names">
            {people.map((person) => (
              <li key={person.handle}>
                <Badge person={person} />
                <span>{nameOf(person)}</span>
              </li>
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Badge({ person }: { person: Person }) {
  return (
    <span className="person" aria-hidden="true" style={{ backgroundColor: colourOf(person.handle) }}>
      {initials(person.handle)}
    </span>
  );
}

function nameOf({ handle, tabs, isYou }: Person): string {
  const facts = [isYou && "you", tabs > 1 && `${tabs} tabs`].filter((fact) => fact !== false);
  return facts.length === 0 ? handle : `${handle} (${facts.join(", ")})`;
}
