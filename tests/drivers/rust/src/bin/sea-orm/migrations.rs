//! Three steps: tables, a many-to-many relation, columns that came later.

use sea_orm_migration::prelude::*;

pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(Tables), Box::new(Tags), Box::new(Later)]
    }
}

#[derive(DeriveIden)]
enum Author {
    Table,
    Id,
    Name,
    Born,
}

#[derive(DeriveIden)]
enum Article {
    Table,
    Id,
    AuthorId,
    Title,
    Price,
    Created,
    Code,
    Extra,
    State,
    Version,
}

#[derive(DeriveIden)]
enum Tag {
    Table,
    Id,
    Word,
}

#[derive(DeriveIden)]
enum ArticleTag {
    Table,
    ArticleId,
    TagId,
}

struct Tables;

impl MigrationName for Tables {
    fn name(&self) -> &str {
        "m1_tables"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Tables {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let author = Table::create()
            .table(Author::Table)
            .if_not_exists()
            .col(ColumnDef::new(Author::Id).integer().not_null().auto_increment().primary_key())
            .col(ColumnDef::new(Author::Name).string_len(80).not_null().unique_key())
            .col(ColumnDef::new(Author::Born).date())
            .to_owned();
        manager.create_table(author).await?;
        let article = Table::create()
            .table(Article::Table)
            .col(ColumnDef::new(Article::Id).big_integer().not_null().auto_increment().primary_key())
            .col(ColumnDef::new(Article::AuthorId).integer().not_null())
            .col(ColumnDef::new(Article::Title).string().not_null())
            .col(ColumnDef::new(Article::Price).decimal_len(10, 2).not_null().check(Expr::col(Article::Price).gte(0)))
            .col(ColumnDef::new(Article::Created).timestamp_with_time_zone().not_null().default(Expr::current_timestamp()))
            .col(ColumnDef::new(Article::Code).uuid().not_null())
            .col(ColumnDef::new(Article::Extra).json_binary().not_null())
            .foreign_key(
                ForeignKey::create()
                    .name("article_author")
                    .from(Article::Table, Article::AuthorId)
                    .to(Author::Table, Author::Id)
                    .on_delete(ForeignKeyAction::Cascade)
                    .on_update(ForeignKeyAction::Cascade),
            )
            .to_owned();
        manager.create_table(article).await?;
        manager.create_index(Index::create().name("article_title").table(Article::Table).col(Article::Title).to_owned()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(Article::Table).to_owned()).await?;
        manager.drop_table(Table::drop().table(Author::Table).to_owned()).await
    }
}

struct Tags;

impl MigrationName for Tags {
    fn name(&self) -> &str {
        "m2_tags"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Tags {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tag = Table::create()
            .table(Tag::Table)
            .col(ColumnDef::new(Tag::Id).integer().not_null().auto_increment().primary_key())
            .col(ColumnDef::new(Tag::Word).text().not_null().unique_key())
            .to_owned();
        manager.create_table(tag).await?;
        let tagged = Table::create()
            .table(ArticleTag::Table)
            .col(ColumnDef::new(ArticleTag::ArticleId).big_integer().not_null())
            .col(ColumnDef::new(ArticleTag::TagId).integer().not_null())
            .primary_key(Index::create().col(ArticleTag::ArticleId).col(ArticleTag::TagId))
            .foreign_key(
                ForeignKey::create()
                    .from(ArticleTag::Table, ArticleTag::ArticleId)
                    .to(Article::Table, Article::Id)
                    .on_delete(ForeignKeyAction::Cascade),
            )
            .foreign_key(ForeignKey::create().from(ArticleTag::Table, ArticleTag::TagId).to(Tag::Table, Tag::Id))
            .to_owned();
        manager.create_table(tagged).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(ArticleTag::Table).to_owned()).await?;
        manager.drop_table(Table::drop().table(Tag::Table).if_exists().to_owned()).await
    }
}

struct Later;

impl MigrationName for Later {
    fn name(&self) -> &str {
        "m3_later"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Later {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = Table::alter()
            .table(Article::Table)
            .add_column(ColumnDef::new(Article::State).string_len(1).not_null().default("d"))
            .add_column_if_not_exists(ColumnDef::new(Article::Version).integer().not_null().default(1))
            .to_owned();
        manager.alter_table(columns).await?;
        let state =
            Table::alter().table(Article::Table).modify_column(ColumnDef::new(Article::Title).string_len(300).not_null()).to_owned();
        manager.alter_table(state).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table(Article::Table).drop_column(Article::State).drop_column(Article::Version).to_owned()).await
    }
}
