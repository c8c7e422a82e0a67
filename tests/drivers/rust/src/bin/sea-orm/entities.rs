//! Authors have articles, articles have tags.

pub mod author {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "author")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i32,
        #[sea_orm(unique)]
        pub name: String,
        pub born: Option<Date>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {
        #[sea_orm(has_many = "super::article::Entity")]
        Article,
    }

    impl Related<super::article::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::Article.def()
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub mod article {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
    #[sea_orm(rs_type = "String", db_type = "String(StringLen::N(1))")]
    pub enum State {
        #[sea_orm(string_value = "d")]
        Draft,
        #[sea_orm(string_value = "p")]
        Published,
    }

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "article")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub author_id: i32,
        pub title: String,
        #[sea_orm(column_type = "Decimal(Some((10, 2)))")]
        pub price: Decimal,
        pub created: DateTimeWithTimeZone,
        pub code: Uuid,
        #[sea_orm(column_type = "JsonBinary")]
        pub extra: Json,
        pub state: State,
        pub version: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {
        #[sea_orm(belongs_to = "super::author::Entity", from = "Column::AuthorId", to = "super::author::Column::Id", on_delete = "Cascade")]
        Author,
    }

    impl Related<super::author::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::Author.def()
        }
    }

    impl Related<super::tag::Entity> for Entity {
        fn to() -> RelationDef {
            super::article_tag::Relation::Tag.def()
        }
        fn via() -> Option<RelationDef> {
            Some(super::article_tag::Relation::Article.def().rev())
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub mod tag {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "tag")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i32,
        #[sea_orm(unique)]
        pub word: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl Related<super::article::Entity> for Entity {
        fn to() -> RelationDef {
            super::article_tag::Relation::Article.def()
        }
        fn via() -> Option<RelationDef> {
            Some(super::article_tag::Relation::Tag.def().rev())
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub mod article_tag {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "article_tag")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub article_id: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub tag_id: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {
        #[sea_orm(
            belongs_to = "super::article::Entity",
            from = "Column::ArticleId",
            to = "super::article::Column::Id",
            on_delete = "Cascade"
        )]
        Article,
        #[sea_orm(belongs_to = "super::tag::Entity", from = "Column::TagId", to = "super::tag::Column::Id")]
        Tag,
    }

    impl ActiveModelBehavior for ActiveModel {}
}
