"""The tables, as named functions that are each applied once, in this order. One that has been released is never changed."""

from sqlite_utils import Database, Migrations

migrations = Migrations("sessions")


@migrations()
def sessions_and_records(database: Database) -> None:
    """Sessions; what was made in them; arrays as compressed blobs with shape and dtype; a row for each decoder step."""
    database.execute("""create table sessions (
        id text primary key, owner text not null, name text not null, note text not null default '',
        made text not null, changed text not null)""")
    database.execute("""create table records (
        id integer primary key, session text not null references sessions(id) on delete cascade,
        kind text not null, record text not null, digest text, status text not null, model text not null,
        input text not null, output text not null default '', settings text not null, head text not null,
        made text not null, ended text, writer text not null, bytes integer not null default 0)""")
    database.execute("""create table arrays (
        record integer not null references records(id) on delete cascade, name text not null,
        dtype text not null, shape text not null, data blob not null, primary key (record, name))""")
    database.execute("""create table steps (
        record integer not null references records(id) on delete cascade, step integer not null,
        token text not null, token_id integer not null, logprob float not null, entropy float not null,
        target text not null, output text not null, head text not null, layout text not null, data blob not null,
        primary key (record, step))""")
    database.execute("create index records_of_session on records(session, id)")
    database.execute("create index sessions_of_owner on sessions(owner, changed)")


@migrations()
def events(database: Database) -> None:
    """What the person did, in order."""
    database.execute("""create table events (
        id integer primary key, session text not null references sessions(id) on delete cascade,
        record integer references records(id) on delete set null, made text not null, kind text not null, data text not null)""")
    database.execute("create index events_of_session on events(session, id)")


@migrations()
def scores(database: Database) -> None:
    """Numbers about records, each with the signature of how it was made."""
    database.execute("""create table scores (
        id integer primary key, session text not null references sessions(id) on delete cascade,
        record integer references records(id) on delete cascade, made text not null, metric text not null,
        value float not null, signature text not null)""")
    database.execute("create index scores_of_session on scores(session, id)")


@migrations()
def sharing(database: Database) -> None:
    """Whether a link opens the session, and what it shows first."""
    database.execute("alter table sessions add column shared integer not null default 0")
    database.execute("alter table sessions add column view text not null default '{}'")


@migrations()
def presenting(database: Database) -> None:
    """What a lecture says of a record, and what it hides until a key is pressed."""
    database.execute("alter table records add column note text not null default ''")
    database.execute("alter table records add column hide text not null default ''")


def apply(database: Database) -> None:
    """Bring the tables of any earlier version up to today's; inside a transaction of the caller, so that one process does it."""
    if migrations.pending(database):
        migrations.apply(database)
